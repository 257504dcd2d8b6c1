/** Sound as raw samples of 16 bits, little-endian, one channel. */
const BYTES_A_SAMPLE = 2

/**
 * The 44 bytes before such samples that make a WAV file of them. Its length is not known while it is streamed, and stands as the largest
 * number, as ffmpeg writes it.
 */
export function wavHeader(sampleRate: number, length = 0xffffffff - 36): Uint8Array {
  const header = new DataView(new ArrayBuffer(44))
  const text = (at: number, name: string) => {
    for (const [index, sign] of [...name].entries()) header.setUint8(at + index, sign.charCodeAt(0))
  }
  text(0, 'RIFF')
  header.setUint32(4, length + 36, true)
  text(8, 'WAVEfmt ')
  header.setUint32(16, 16, true)
  header.setUint16(20, 1, true) // samples as they are
  header.setUint16(22, 1, true)
  header.setUint32(24, sampleRate, true)
  header.setUint32(28, sampleRate * BYTES_A_SAMPLE, true)
  header.setUint16(32, BYTES_A_SAMPLE, true)
  header.setUint16(34, BYTES_A_SAMPLE * 8, true)
  text(36, 'data')
  header.setUint32(40, length, true)
  return new Uint8Array(header.buffer)
}

/** How many seconds of sound a file has, by its header: a WAV, or an MP3 of one bit rate; `undefined` for any other. */
export const secondsOf = (file: Uint8Array): number | undefined => secondsOfWav(file) ?? secondsOfMp3(file)

function secondsOfWav(file: Uint8Array): number | undefined {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  if (!isAt(file, 'RIFF', 0) || !isAt(file, 'WAVE', 8)) return undefined
  let bytesASecond = 0
  for (let at = 12; at + 8 <= file.length; ) {
    const length = view.getUint32(at + 4, true)
    if (isAt(file, 'fmt ', at) && at + 20 <= file.length) bytesASecond = view.getUint32(at + 16, true)
    if (isAt(file, 'data', at))
      return bytesASecond > 0 ? Math.min(length, file.length - at - 8) / bytesASecond : undefined
    at += 8 + length + (length % 2)
  }
  return undefined
}

/** In kbit/s, by the index in the header of a frame of layer III: MPEG 1, and MPEG 2 and 2.5. */
const RATES = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
]

function secondsOfMp3(file: Uint8Array): number | undefined {
  const [a = 0, b = 0, c = 0, d = 0] = file.subarray(6, 10)
  const start = isAt(file, 'ID3', 0) ? 10 + ((a << 21) | (b << 14) | (c << 7) | d) : 0
  const [sync, version = 0, rates = 0] = file.subarray(start, start + 3)
  if (sync !== 0xff || (version & 0xe6) !== 0xe2) return undefined
  const rate = RATES[(version & 0x18) === 0x18 ? 0 : 1]?.[rates >> 4]
  return rate ? ((file.length - start) * 8) / (rate * 1_000) : undefined
}

const isAt = (file: Uint8Array, text: string, at: number) =>
  [...text].every((sign, index) => file[at + index] === sign.charCodeAt(0))
