// Draws pages of PDF documents, for the renderer of thumbnails that starts this program. It is a program by itself
// because poppler, with which it is linked, has the GNU General Public License.
//
// Before the first byte of a document is read, the process gives up whatever it does not need; see thumbs-decode.

#include <CDecoder.h>

extern const Format *const decode_pdf;

int main(int count, char **arguments) {
  const Format *const formats[DecodeFormatCount] = {[DecodeFormatPDF] = decode_pdf};
  return decoder_main(count, arguments, formats);
}
