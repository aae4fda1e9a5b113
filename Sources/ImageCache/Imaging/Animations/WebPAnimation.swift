#if WebP
  extension WebPDecoder: AnimationDecoder, FrameDecoder {
    func animation(of file: Span<UInt8>) -> Animation? {
      webp.isExtended ? WebPAnimationReader(webp: webp).read(file).moving : nil
    }
  }

  /// Walks the chunks of a WebP file to list its frames (RFC 9649, section 2.7.1).
  private struct WebPAnimationReader {
    let webp: WebPHeader
    private var animation = Animation()

    init(webp: WebPHeader) { self.webp = webp }

    /// Lists the frames. Damage ends the list.
    consuming func read(_ bytes: Span<UInt8>) -> Animation {
      var offset = 12
      while offset + 8 <= webp.end, animation.frames.count < Animation.maxFrames {
        guard let count = bytes.uint32(at: offset + 4, .little), offset + 8 + count <= bytes.count else {
          animation.fault = ImageError(
            .truncated, "The image data is truncated: \(bytes.count) of \(webp.end) bytes.")
          break
        }
        let data = offset + 8..<offset + 8 + count
        if bytes.has("ANIM", at: offset), count >= 6 { animation.loops = bytes.uint16(at: offset + 12, .little) ?? 0 }
        if bytes.has("ANMF", at: offset), !addFrame(bytes, data) { break }
        offset = data.upperBound + count % 2
      }
      return animation
    }

    /// Adds a frame. Returns false if it is damaged.
    private mutating func addFrame(_ bytes: Span<UInt8>, _ data: Range<Int>) -> Bool {
      do throws(ImageError) {
        guard let frame = try WebPHeaderReader.frame(bytes, data, of: webp),
          let word = bytes.uint32(
            at: data.lowerBound + 12, .little)
        else { throw ImageError(.decodeError, "The image is corrupt: a frame of the WebP file is too short.") }
        let flags = bytes[data.lowerBound + 15]
        animation.frames.append(
          AnimationFrame(
            area: frame.area, duration: AnimationFrame.shown(milliseconds: word & 0xFF_FFFF),
            disposal: flags & 1 == 1 ? .clear : .keep, blending: flags & 2 == 2 ? .overwriting : .over,
            decoder: WebPDecoder(frame.header)))
        return true
      } catch {
        animation.fault = error
        return false
      }
    }
  }

  extension WebPHeaderReader {
    /// Reads the frame of an animation in the chunk with `data`. Returns its place on the canvas, and the header of a
    /// file that has only this frame; nil if it is too short.
    static func frame(
      _ bytes: Span<UInt8>, _ data: Range<Int>, of webp: WebPHeader
    ) throws(ImageError) -> (area: AnimationArea, header: WebPHeader)? {
      var header = webp
      header.image.layout = .rgb
      header.frameSize = PixelSize(width: 0, height: 0)
      let reader = WebPHeaderReader(limits: DecodingLimits(maxPixels: webp.image.storedSize.area))
      guard try reader.readFrame(bytes, data, into: &header) else { return nil }
      let area = AnimationArea(left: header.left, top: header.top, size: header.frameSize)
      (header.left, header.top, header.end) = (0, 0, data.upperBound)
      header.image.storedSize = area.size
      return (area, header)
    }
  }
#endif
