/**
 * How many seconds of sound a file has, by its headers: WAV, MP3 (by its frames), FLAC, Ogg, MP4 and WebM; `undefined` where these do not say it. The
 * rest of a file that is cut counts as far as its frames tell.
 */
export function secondsOf(file: Uint8Array): number | undefined {
  if (file.length < 16) return undefined
  const seconds = ofWav(file) ?? ofFlac(file) ?? ofOgg(file) ?? ofMp4(file) ?? ofWebm(file) ?? ofMp3(file)
  return seconds !== undefined && Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined
}

/** About how many seconds a file has whose headers do not say it, such as what a browser records: speech at 32 kbit/s. */
export const likelySeconds = (file: Uint8Array): number => file.length / 4_000

/** Formats of WAV files in which a block is one sample of each channel: PCM, floating point, A-law, µ-law, extensible. */
const PLAIN: ReadonlySet<number> = new Set([1, 3, 6, 7, 0xfffe])

function ofWav(file: Uint8Array): number | undefined {
  if (!isAt(file, 'RIFF', 0) || !isAt(file, 'WAVE', 8)) return undefined
  const view = viewOf(file)
  let bytesASecond = 0
  for (let at = 12; at + 8 <= file.length; ) {
    const length = view.getUint32(at + 4, true)
    if (isAt(file, 'fmt ', at) && at + 24 <= file.length) {
      const byRate = view.getUint32(at + 12, true) * view.getUint16(at + 20, true)
      const told = view.getUint32(at + 16, true)
      bytesASecond = PLAIN.has(view.getUint16(at + 8, true)) ? Math.min(byRate || told, told || byRate) : told
    }
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
/** In Hz, of MPEG 1; those of MPEG 2 are half, those of 2.5 a quarter. */
const FREQUENCIES = [44_100, 48_000, 32_000]

function ofMp3(file: Uint8Array): number | undefined {
  const [a = 0, b = 0, c = 0, d = 0] = file.subarray(6, 10)
  const start = isAt(file, 'ID3', 0) ? 10 + ((a << 21) | (b << 14) | (c << 7) | d) : 0
  let seconds = 0
  let at = start
  while (at + 4 <= file.length) {
    const frame = frameAt(file, at)
    if (!frame) break
    seconds += frame.seconds
    at += frame.length
  }
  if (at === start) return undefined
  const end = isAt(file, 'TAG', file.length - 128) ? file.length - 128 : file.length
  // What follows something that is no frame counts like what comes before.
  return (seconds * Math.max(end, at) - seconds * start) / (at - start)
}

/** The frame of layer III there: its length in bytes, and in seconds. */
function frameAt(file: Uint8Array, at: number): { length: number; seconds: number } | undefined {
  const [sync, version = 0, rates = 0] = file.subarray(at, at + 3)
  if (sync !== 0xff || (version & 0xe6) !== 0xe2 || (version & 0x18) === 0x08) return undefined
  const isFirst = (version & 0x18) === 0x18
  const rate = RATES[isFirst ? 0 : 1]?.[rates >> 4]
  const frequency = (FREQUENCIES[(rates >> 2) & 3] ?? 0) / (isFirst ? 1 : (version & 0x18) === 0x10 ? 2 : 4)
  if (!rate || !frequency) return undefined
  const samples = isFirst ? 1_152 : 576
  const length = Math.floor((samples / 8) * ((rate * 1_000) / frequency)) + ((rates >> 1) & 1)
  return { length, seconds: samples / frequency }
}

/** By the number of samples in its first block. */
function ofFlac(file: Uint8Array): number | undefined {
  if (!isAt(file, 'fLaC', 0) || file.length < 26) return undefined
  const view = viewOf(file)
  const frequency = view.getUint32(18) >>> 12
  const samples = (view.getUint8(21) & 15) * 2 ** 32 + view.getUint32(22)
  return frequency > 0 && samples > 0 ? samples / frequency : undefined
}

/** By the position in its last page, in samples: at 48 kHz in Opus, whatever was recorded. */
function ofOgg(file: Uint8Array): number | undefined {
  if (!isAt(file, 'OggS', 0)) return undefined
  const view = viewOf(file)
  const vorbis = find(file, '\u0001vorbis', 0, 256)
  const frequency = vorbis >= 0 && vorbis + 16 <= file.length ? view.getUint32(vorbis + 12, true) : 48_000
  const last = findLast(file, 'OggS')
  if (last < 0 || last + 14 > file.length) return undefined
  const position = view.getUint32(last + 6, true) + view.getInt32(last + 10, true) * 2 ** 32
  return frequency > 0 && position > 0 ? position / frequency : undefined
}

/** By the length in its header, which may stand at its end. */
function ofMp4(file: Uint8Array): number | undefined {
  if (!isAt(file, 'ftyp', 4)) return undefined
  const movie = find(file, 'mvhd', 0, file.length)
  if (movie < 0 || movie + 36 > file.length) return undefined
  const view = viewOf(file)
  const isLong = view.getUint8(movie + 4) === 1
  const scale = view.getUint32(movie + (isLong ? 24 : 16))
  const length = isLong ? view.getUint32(movie + 28) * 2 ** 32 + view.getUint32(movie + 32) : view.getUint32(movie + 20)
  return scale > 0 && length > 0 ? length / scale : undefined
}

/** By the length in its header, which browsers do not write. */
function ofWebm(file: Uint8Array): number | undefined {
  if (!isAt(file, '\u001aE\u00df\u00a3', 0)) return undefined
  const view = viewOf(file)
  const scaleAt = find(file, '\u002a\u00d7\u00b1\u0083', 0, HEADER)
  const scale = scaleAt >= 0 && scaleAt + 7 <= file.length ? (view.getUint32(scaleAt + 3) & 0xff_ff_ff) / 1e9 : 0.001
  const long = find(file, '\u0044\u0089\u0088', 0, HEADER)
  if (long >= 0 && long + 11 <= file.length) return view.getFloat64(long + 3) * scale
  const short = find(file, '\u0044\u0089\u0084', 0, HEADER)
  return short >= 0 && short + 7 <= file.length ? view.getFloat32(short + 3) * scale : undefined
}

/** In bytes: where the header of a WebM file ends at most. */
const HEADER = 4_096

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) => new DataView(buffer, byteOffset, byteLength)

/** Are these bytes there, each given as a character? */
function isAt(file: Uint8Array, bytes: string, at: number): boolean {
  for (let index = 0; index < bytes.length; index++) if (file[at + index] !== bytes.charCodeAt(index)) return false
  return true
}

function find(file: Uint8Array, bytes: string, start: number, end: number): number {
  const first = bytes.charCodeAt(0)
  for (let at = file.indexOf(first, start); at >= 0 && at < end; at = file.indexOf(first, at + 1))
    if (isAt(file, bytes, at)) return at
  return -1
}

function findLast(file: Uint8Array, bytes: string): number {
  const first = bytes.charCodeAt(0)
  for (let at = file.lastIndexOf(first); at >= 0; at = at === 0 ? -1 : file.lastIndexOf(first, at - 1))
    if (isAt(file, bytes, at)) return at
  return -1
}
