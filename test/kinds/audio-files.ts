import { concatBytes, encodeUtf8 } from '../../src/lib/bytes.ts'
import { writeWavHeader } from '../../src/protocols/kinds/sound/wav.ts'

/* Silent audio files of a given length in seconds, and the headers of real files. */

const getBytes = (text: string) => Uint8Array.from(text, (sign) => sign.charCodeAt(0))

function getNumbers(size: number, write: (view: DataView) => void): Uint8Array {
  const view = new DataView(new ArrayBuffer(size))
  write(view)
  return new Uint8Array(view.buffer)
}

/** Creates a WAV file at 8 kHz. */
export const wav = (seconds: number): Uint8Array =>
  concatBytes([writeWavHeader(8_000, seconds * 16_000), new Uint8Array(seconds * 16_000)])

/** Creates an MP3 file with a tag, and frames of 128 and 32 kbit/s. */
export function mp3(seconds: number): Uint8Array {
  const frame = (rates: number, length: number) => {
    const bytes = new Uint8Array(length)
    bytes.set([0xff, 0xfb, rates])
    return bytes
  }
  const loud = frame(0x90, 417)
  const quiet = frame(0x10, 104)
  const frames = Array.from({ length: Math.round((seconds * 44_100) / 1_152) }, (_, index) =>
    index % 4 === 0 ? loud : quiet,
  )
  return concatBytes([getBytes('ID3\u0004\u0000\u0000\u0000\u0000\u0000\u0004abcd'), ...frames])
}

/** Creates a FLAC file at 16 kHz with 30 bytes per second. */
export const flac = (seconds: number): Uint8Array =>
  concatBytes([
    getBytes('fLaC\u0080\u0000\u0000\u0022'),
    getNumbers(34, (view) => {
      view.setUint32(10, (16_000 << 12) | (15 << 4))
      view.setUint32(14, seconds * 16_000)
    }),
    new Uint8Array(seconds * 30),
  ])

/** Creates an Opus file with 500 bytes per second, in pages of one second. */
export const ogg = (seconds: number): Uint8Array =>
  concatBytes(
    Array.from({ length: seconds + 1 }, (_, index) => [
      getBytes(`OggS\u0000${index === 0 ? '\u0002' : '\u0000'}`),
      getNumbers(22, (view) => view.setBigUint64(0, BigInt(index * 48_000), true)),
      index === 0 ? encodeUtf8('OpusHead') : new Uint8Array(500),
    ]).flat(),
  )

/** Creates an M4A file with its header at the end. */
export const m4a = (seconds: number): Uint8Array =>
  concatBytes([
    getBytes('\u0000\u0000\u0000\u0018ftypM4A \u0000\u0000\u0000\u0000'),
    new Uint8Array(seconds * 400),
    getBytes('\u0000\u0000\u0000\u0080moov\u0000\u0000\u0000\u006cmvhd'),
    getNumbers(100, (view) => {
      view.setUint32(12, 1_000)
      view.setUint32(16, seconds * 1_000)
    }),
  ])

/** Creates a WebM file whose duration is in milliseconds. */
export const webm = (seconds: number): Uint8Array =>
  concatBytes([
    getBytes('\u001aE\u00df\u00a3\u0042\u0082\u0084webm\u002a\u00d7\u00b1\u0083\u000f\u0042\u0040\u0044\u0089\u0088'),
    getNumbers(8, (view) => view.setFloat64(0, seconds * 1_000)),
    new Uint8Array(seconds * 400),
  ])

/** Creates a browser recording of this many bytes, without a duration. */
export const createRecording = (size: number): Uint8Array =>
  concatBytes([getBytes('\u001aE\u00df\u00a3\u0042\u0082\u0084webm'), new Uint8Array(size - 11)])
