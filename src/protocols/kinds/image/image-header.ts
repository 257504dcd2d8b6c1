import type { PixelSize } from './image-sizes.ts'

/** Reads the media type and, if present, the size from the first bytes of a PNG, JPEG, WebP, or GIF. */
export function readImageHeader(bytes: Uint8Array): { type: string; size?: PixelSize } | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const readText = (offset: number, length = 4) => String.fromCharCode(...bytes.subarray(offset, offset + length))
  if (readText(1, 3) === 'PNG') {
    if (bytes.length < 24) return { type: 'image/png' }
    return { type: 'image/png', size: { width: view.getUint32(16), height: view.getUint32(20) } }
  }
  if (readText(0, 3) === 'GIF') {
    if (bytes.length < 10) return { type: 'image/gif' }
    return { type: 'image/gif', size: { width: view.getUint16(6, true), height: view.getUint16(8, true) } }
  }
  if (readText(0) === 'RIFF' && readText(8) === 'WEBP') {
    const size = readWebpSize(view, readText(12))
    return { type: 'image/webp', ...(size && { size }) }
  }
  if (bytes[0] === 0xff && bytes[1] === 0xd8) {
    const size = readJpegSize(view)
    return { type: 'image/jpeg', ...(size && { size }) }
  }
  return undefined
}

function readWebpSize(view: DataView, chunk: string): PixelSize | undefined {
  if (view.byteLength < 30) return undefined
  if (chunk === 'VP8 ') return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
  if (chunk === 'VP8L') {
    const bits = view.getUint32(21, true)
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
  }
  if (chunk !== 'VP8X') return undefined
  const readDimension = (offset: number) => view.getUint16(offset, true) + (view.getUint8(offset + 2) << 16) + 1
  return { width: readDimension(24), height: readDimension(27) }
}

/** Reads the size from the first frame header. */
function readJpegSize(view: DataView): PixelSize | undefined {
  let offset = 2
  while (offset + 9 <= view.byteLength && view.getUint8(offset) === 0xff) {
    const marker = view.getUint8(offset + 1)
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) return { width: view.getUint16(offset + 7), height: view.getUint16(offset + 5) }
    offset += 2 + Math.max(2, view.getUint16(offset + 2))
  }
  return undefined
}
