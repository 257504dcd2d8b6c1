/**
 * Returns the duration in seconds, from the headers of a WAV, FLAC, Ogg, MP4, or WebM file, or from an MP3's frames. Returns `undefined` if it can't
 * be determined. For a truncated WAV or MP3 file, measures only the audio that is present.
 */
export function getDuration(file: Uint8Array): number | undefined {
  if (file.length < 16) return undefined
  const seconds =
    getWavDuration(file) ??
    getFlacDuration(file) ??
    getOggDuration(file) ??
    getMp4Duration(file) ??
    getWebmDuration(file) ??
    getMp3Duration(file)
  return seconds !== undefined && Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined
}

/** Estimates the duration in seconds of a file whose headers don't contain it, such as a recording made in a browser. Assumes speech at 32 kbit/s. */
export const estimateDuration = (file: Uint8Array): number => file.length / 4_000

/** WAV formats in which a block has one sample per channel: PCM, floating point, A-law, µ-law, and extensible. */
const SAMPLE_FORMATS: ReadonlySet<number> = new Set([1, 3, 6, 7, 0xfffe])

function getWavDuration(file: Uint8Array): number | undefined {
  if (!hasBytes(file, 'RIFF', 0) || !hasBytes(file, 'WAVE', 8)) return undefined
  const view = toView(file)
  let bytesPerSecond = 0
  for (let offset = 12; offset + 8 <= file.length; ) {
    const length = view.getUint32(offset + 4, true)
    if (hasBytes(file, 'fmt ', offset) && offset + 24 <= file.length) {
      const computedRate = view.getUint32(offset + 12, true) * view.getUint16(offset + 20, true)
      const declaredRate = view.getUint32(offset + 16, true)
      bytesPerSecond = SAMPLE_FORMATS.has(view.getUint16(offset + 8, true))
        ? Math.min(computedRate || declaredRate, declaredRate || computedRate)
        : declaredRate
    }
    if (hasBytes(file, 'data', offset))
      return bytesPerSecond > 0 ? Math.min(length, file.length - offset - 8) / bytesPerSecond : undefined
    offset += 8 + length + (length % 2)
  }
  return undefined
}

/** Bit rates in kbit/s, by the index in a layer III frame header: for MPEG 1, then for MPEG 2 and 2.5. */
const BIT_RATES = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
]
/** In Hz, for MPEG 1. The rate is half of that for MPEG 2, and a quarter for MPEG 2.5. */
const SAMPLE_RATES = [44_100, 48_000, 32_000]

function getMp3Duration(file: Uint8Array): number | undefined {
  const [a = 0, b = 0, c = 0, d = 0] = file.subarray(6, 10)
  const audioStart = hasBytes(file, 'ID3', 0) ? 10 + ((a << 21) | (b << 14) | (c << 7) | d) : 0
  let seconds = 0
  let offset = audioStart
  while (offset + 4 <= file.length) {
    const frame = readFrame(file, offset)
    if (!frame) break
    seconds += frame.seconds
    offset += frame.length
  }
  if (offset === audioStart) return undefined
  const audioEnd = hasBytes(file, 'TAG', file.length - 128) ? file.length - 128 : file.length
  // The data after the last frame is assumed to have the same bit rate.
  return (seconds * Math.max(audioEnd, offset) - seconds * audioStart) / (offset - audioStart)
}

/** Reads a layer III frame's length in bytes and seconds. */
function readFrame(file: Uint8Array, offset: number): { length: number; seconds: number } | undefined {
  const [sync, version = 0, rates = 0] = file.subarray(offset, offset + 3)
  if (sync !== 0xff || (version & 0xe6) !== 0xe2 || (version & 0x18) === 0x08) return undefined
  const isMpeg1 = (version & 0x18) === 0x18
  const bitRate = BIT_RATES[isMpeg1 ? 0 : 1]?.[rates >> 4]
  const sampleRate = (SAMPLE_RATES[(rates >> 2) & 3] ?? 0) / (isMpeg1 ? 1 : (version & 0x18) === 0x10 ? 2 : 4)
  if (!bitRate || !sampleRate) return undefined
  const sampleCount = isMpeg1 ? 1_152 : 576
  const length = Math.floor((sampleCount / 8) * ((bitRate * 1_000) / sampleRate)) + ((rates >> 1) & 1)
  return { length, seconds: sampleCount / sampleRate }
}

/** Reads the duration from the number of samples in the first block. */
function getFlacDuration(file: Uint8Array): number | undefined {
  if (!hasBytes(file, 'fLaC', 0) || file.length < 26) return undefined
  const view = toView(file)
  const sampleRate = view.getUint32(18) >>> 12
  const sampleCount = (view.getUint8(21) & 15) * 2 ** 32 + view.getUint32(22)
  return sampleRate > 0 && sampleCount > 0 ? sampleCount / sampleRate : undefined
}

/** Reads the duration from the last page, which contains the position in samples. Opus always counts them at 48 kHz. */
function getOggDuration(file: Uint8Array): number | undefined {
  if (!hasBytes(file, 'OggS', 0)) return undefined
  const view = toView(file)
  const vorbisOffset = findBytes(file, '\u0001vorbis', 256)
  const sampleRate =
    vorbisOffset >= 0 && vorbisOffset + 16 <= file.length ? view.getUint32(vorbisOffset + 12, true) : 48_000
  const lastPageOffset = findLastBytes(file, 'OggS')
  if (lastPageOffset < 0 || lastPageOffset + 14 > file.length) return undefined
  const samplePosition = view.getUint32(lastPageOffset + 6, true) + view.getInt32(lastPageOffset + 10, true) * 2 ** 32
  return sampleRate > 0 && samplePosition > 0 ? samplePosition / sampleRate : undefined
}

/** Reads the duration from the header, which may be at the end of the file. */
function getMp4Duration(file: Uint8Array): number | undefined {
  if (!hasBytes(file, 'ftyp', 4)) return undefined
  const movieHeaderOffset = findBytes(file, 'mvhd', file.length)
  if (movieHeaderOffset < 0 || movieHeaderOffset + 36 > file.length) return undefined
  const view = toView(file)
  const is64Bit = view.getUint8(movieHeaderOffset + 4) === 1
  const timescale = view.getUint32(movieHeaderOffset + (is64Bit ? 24 : 16))
  const scaledDuration = is64Bit
    ? view.getUint32(movieHeaderOffset + 28) * 2 ** 32 + view.getUint32(movieHeaderOffset + 32)
    : view.getUint32(movieHeaderOffset + 20)
  return timescale > 0 && scaledDuration > 0 ? scaledDuration / timescale : undefined
}

/** Reads the duration from the header, if present. Recordings made in browsers omit it. */
function getWebmDuration(file: Uint8Array): number | undefined {
  if (!hasBytes(file, '\u001aE\u00df\u00a3', 0)) return undefined
  const view = toView(file)
  const scaleOffset = findBytes(file, '\u002a\u00d7\u00b1\u0083', MAX_HEADER_BYTES)
  const secondsPerTick =
    scaleOffset >= 0 && scaleOffset + 7 <= file.length ? (view.getUint32(scaleOffset + 3) & 0xff_ff_ff) / 1e9 : 0.001
  const doubleOffset = findBytes(file, '\u0044\u0089\u0088', MAX_HEADER_BYTES)
  if (doubleOffset >= 0 && doubleOffset + 11 <= file.length) return view.getFloat64(doubleOffset + 3) * secondsPerTick
  const floatOffset = findBytes(file, '\u0044\u0089\u0084', MAX_HEADER_BYTES)
  return floatOffset >= 0 && floatOffset + 7 <= file.length
    ? view.getFloat32(floatOffset + 3) * secondsPerTick
    : undefined
}

/** The maximum size of a WebM file's header, in bytes. */
const MAX_HEADER_BYTES = 4_096

const toView = ({ buffer, byteOffset, byteLength }: Uint8Array) => new DataView(buffer, byteOffset, byteLength)

/** Returns whether the bytes at an offset match `bytes`, which has one byte per character. */
function hasBytes(file: Uint8Array, bytes: string, offset: number): boolean {
  for (let index = 0; index < bytes.length; index++) if (file[offset + index] !== bytes.charCodeAt(index)) return false
  return true
}

function findBytes(file: Uint8Array, bytes: string, end: number): number {
  const firstByte = bytes.charCodeAt(0)
  for (let offset = file.indexOf(firstByte); offset >= 0 && offset < end; offset = file.indexOf(firstByte, offset + 1))
    if (hasBytes(file, bytes, offset)) return offset
  return -1
}

function findLastBytes(file: Uint8Array, bytes: string): number {
  const firstByte = bytes.charCodeAt(0)
  for (
    let offset = file.lastIndexOf(firstByte);
    offset >= 0;
    offset = offset === 0 ? -1 : file.lastIndexOf(firstByte, offset - 1)
  )
    if (hasBytes(file, bytes, offset)) return offset
  return -1
}
