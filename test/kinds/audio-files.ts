import { concatBytes, encodeUtf8 } from '../../src/lib/bytes.ts'
import { writeWavHeader } from '../../src/protocols/kinds/sound/wav.ts'

/* Files of silence, so many seconds long, with the headers of real ones. */

const bytesOf = (text: string) => Uint8Array.from(text, (sign) => sign.charCodeAt(0))

function numbers(size: number, write: (view: DataView) => void): Uint8Array {
  const view = new DataView(new ArrayBuffer(size))
  write(view)
  return new Uint8Array(view.buffer)
}

/** At 8 kHz. */
export const wav = (seconds: number): Uint8Array =>
  concatBytes([writeWavHeader(8_000, seconds * 16_000), new Uint8Array(seconds * 16_000)])

/** Behind a tag, of frames of 128 and of 32 kbit/s. */
export function mp3(seconds: number): Uint8Array {
  const frame = (rates: number, length: number) => {
    const bytes = new Uint8Array(length)
    bytes.set([0xff, 0xfb, rates])
    return bytes
  }
  const loud = frame(0x90, 417)
  const quiet = frame(0x10, 104)
  const frames = Array.from({ length: Math.round((seconds * 44_100) / 1_152) }, (_, at) =>
    at % 4 === 0 ? loud : quiet,
  )
  return concatBytes([bytesOf('ID3\u0004\u0000\u0000\u0000\u0000\u0000\u0004abcd'), ...frames])
}

/** At 16 kHz, of 30 bytes a second. */
export const flac = (seconds: number): Uint8Array =>
  concatBytes([
    bytesOf('fLaC\u0080\u0000\u0000\u0022'),
    numbers(34, (view) => {
      view.setUint32(10, (16_000 << 12) | (15 << 4))
      view.setUint32(14, seconds * 16_000)
    }),
    new Uint8Array(seconds * 30),
  ])

/** Opus of 500 bytes a second, in pages of one second. */
export const ogg = (seconds: number): Uint8Array =>
  concatBytes(
    Array.from({ length: seconds + 1 }, (_, at) => [
      bytesOf(`OggS\u0000${at === 0 ? '\u0002' : '\u0000'}`),
      numbers(22, (view) => view.setBigUint64(0, BigInt(at * 48_000), true)),
      at === 0 ? encodeUtf8('OpusHead') : new Uint8Array(500),
    ]).flat(),
  )

/** With its header at the end. */
export const m4a = (seconds: number): Uint8Array =>
  concatBytes([
    bytesOf('\u0000\u0000\u0000\u0018ftypM4A \u0000\u0000\u0000\u0000'),
    new Uint8Array(seconds * 400),
    bytesOf('\u0000\u0000\u0000\u0080moov\u0000\u0000\u0000\u006cmvhd'),
    numbers(100, (view) => {
      view.setUint32(12, 1_000)
      view.setUint32(16, seconds * 1_000)
    }),
  ])

/** With its length in milliseconds. */
export const webm = (seconds: number): Uint8Array =>
  concatBytes([
    bytesOf('\u001aE\u00df\u00a3\u0042\u0082\u0084webm\u002a\u00d7\u00b1\u0083\u000f\u0042\u0040\u0044\u0089\u0088'),
    numbers(8, (view) => view.setFloat64(0, seconds * 1_000)),
    new Uint8Array(seconds * 400),
  ])

/** Audio of this many bytes as browsers record it, without a length. */
export const recorded = (size: number): Uint8Array =>
  concatBytes([bytesOf('\u001aE\u00df\u00a3\u0042\u0082\u0084webm'), new Uint8Array(size - 11)])
