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
