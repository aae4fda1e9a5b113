#include "error.h"

#include <jerror.h>

#include "../messages.h"

static CImageStatus status_of(int code, bool reachedEnd) {
  switch (code) {
    case JERR_OUT_OF_MEMORY:
      return CImageStatusOutOfMemory;
    case JERR_NO_BACKING_STORE:
    case JERR_WIDTH_OVERFLOW:
    case JERR_IMAGE_TOO_BIG:
      return CImageStatusLimit;
#if JPEG_LIB_VERSION < 70
    case JERR_ARITH_NOTIMPL:
#endif
    case JERR_BAD_PRECISION:
    case JERR_CCIR601_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_SOF_UNSUPPORTED:
      return CImageStatusUnsupported;
    case JERR_INPUT_EMPTY:
    case JERR_INPUT_EOF:
      return CImageStatusTruncated;
    default:
      return reachedEnd ? CImageStatusTruncated : CImageStatusCorrupt;
  }
}

static _Noreturn void error_exit(j_common_ptr cinfo) {
  JPEGErrors *errors = (JPEGErrors *)cinfo->err;
  char text[JMSG_LENGTH_MAX];
  cinfo->err->format_message(cinfo, text);
  cimage_set_error(errors->messages, text);
  errors->status = status_of(cinfo->err->msg_code, errors->reachedEnd);
  longjmp(errors->jump, 1);
}

static void emit_message(j_common_ptr cinfo, int level) {
  if (level >= 0) return;  // Traces, not warnings.
  JPEGErrors *errors = (JPEGErrors *)cinfo->err;
  cinfo->err->num_warnings += 1;
  switch (cinfo->err->msg_code) {
    case JWRN_JPEG_EOF:
      errors->reachedEnd = true;
      break;
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
      errors->damaged = true;
      break;
    default:
      break;
  }
  char text[JMSG_LENGTH_MAX];
  cinfo->err->format_message(cinfo, text);
  cimage_add_warning(errors->messages, text);
}

static void output_message(j_common_ptr cinfo) { (void)cinfo; }

struct jpeg_error_mgr *cimage_jpeg_errors(JPEGErrors *errors, CImageMessages *messages) {
  struct jpeg_error_mgr *manager = jpeg_std_error(&errors->manager);
  manager->error_exit = error_exit;
  manager->emit_message = emit_message;
  manager->output_message = output_message;
  errors->messages = messages;
  errors->status = CImageStatusOK;
  errors->reachedEnd = false;
  errors->damaged = false;
  return manager;
}

_Noreturn void cimage_jpeg_fail(j_common_ptr cinfo, CImageStatus status, const char *reason) {
  JPEGErrors *errors = (JPEGErrors *)cinfo->err;
  cimage_set_error(errors->messages, reason);
  errors->status = status;
  longjmp(errors->jump, 1);
}
