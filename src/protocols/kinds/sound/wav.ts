/** Raw audio has 16-bit little-endian samples and one channel. */
const BYTES_PER_SAMPLE = 2

/**
 * Writes the 44-byte header that turns raw samples into a WAV file. The length of a stream is unknown, so it defaults to the maximum, as in ffmpeg.
 */
export function writeWavHeader(sampleRate: number, length = 0xffffffff - 36): Uint8Array {
  const header = new DataView(new ArrayBuffer(44))
  const writeText = (offset: number, name: string) => {
    for (const [index, sign] of [...name].entries()) header.setUint8(offset + index, sign.charCodeAt(0))
  }
  writeText(0, 'RIFF')
  header.setUint32(4, length + 36, true)
  writeText(8, 'WAVEfmt ')
  header.setUint32(16, 16, true)
  header.setUint16(20, 1, true) // the code for PCM
  header.setUint16(22, 1, true)
  header.setUint32(24, sampleRate, true)
  header.setUint32(28, sampleRate * BYTES_PER_SAMPLE, true)
  header.setUint16(32, BYTES_PER_SAMPLE, true)
  header.setUint16(34, BYTES_PER_SAMPLE * 8, true)
  writeText(36, 'data')
  header.setUint32(40, length, true)
  return new Uint8Array(header.buffer)
}
