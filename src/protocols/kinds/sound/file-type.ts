import { encodeUtf8 } from '../../../lib/bytes.ts'

/* Vendors recognize a recording's format by its file extension (OpenAI, OpenRouter) or its media type (Deepgram, Google). */

/** An audio file from a client or for a vendor. */
export interface Recording {
  bytes: Uint8Array
  /** The media type, which may be empty or have parameters. */
  type: string
  fileName: string
}

/** The file extensions of each format, most common first, and its media types without `x-`. */
const AUDIO_FORMATS: Readonly<Record<string, { extensions: readonly string[]; types: readonly string[] }>> = {
  mp3: { extensions: ['mp3', 'mpga', 'mpeg'], types: ['audio/mpeg', 'audio/mp3', 'audio/mpga', 'video/mpeg'] },
  wav: { extensions: ['wav'], types: ['audio/wav', 'audio/wave', 'audio/vnd.wave', 'audio/pn-wav'] },
  mp4: {
    extensions: ['mp4', 'm4a', 'mov', '3gp'],
    types: ['audio/mp4', 'audio/m4a', 'video/mp4', 'video/quicktime', 'audio/3gpp', 'video/3gpp', 'audio/mp4a-latm'],
  },
  webm: { extensions: ['webm', 'mka', 'mkv'], types: ['audio/webm', 'video/webm', 'audio/matroska', 'video/matroska'] },
  ogg: { extensions: ['ogg', 'oga', 'opus'], types: ['audio/ogg', 'audio/opus', 'video/ogg', 'application/ogg'] },
  flac: { extensions: ['flac'], types: ['audio/flac'] },
  aac: { extensions: ['aac'], types: ['audio/aac', 'audio/aacp'] },
  amr: { extensions: ['amr'], types: ['audio/amr'] },
  aiff: { extensions: ['aiff', 'aif'], types: ['audio/aiff'] },
}

const formatByExtension = new Map(
  Object.entries(AUDIO_FORMATS).flatMap(([name, { extensions }]) => extensions.map((extension) => [extension, name])),
)
const formatByType = new Map(
  Object.entries(AUDIO_FORMATS).flatMap(([name, { types }]) => types.map((type) => [type, name])),
)

/** The bytes that identify a format, with their offset. */
const SIGNATURES: ReadonlyArray<readonly [format: string, offset: number, signature: Uint8Array]> = [
  ['wav', 8, encodeUtf8('WAVEfmt ')],
  ['mp4', 4, encodeUtf8('ftyp')],
  ['webm', 0, Uint8Array.of(0x1a, 0x45, 0xdf, 0xa3)],
  ['ogg', 0, encodeUtf8('OggS')],
  ['flac', 0, encodeUtf8('fLaC')],
  ['amr', 0, encodeUtf8('#!AMR')],
  ['mp3', 0, encodeUtf8('ID3')],
  ['aiff', 8, encodeUtf8('AIFF')],
]

const detectFormat = (bytes: Uint8Array): string | undefined =>
  SIGNATURES.find(([, offset, signature]) => signature.every((byte, index) => bytes[offset + index] === byte))?.[0]

/** Returns a media type in lowercase, without parameters. */
const normalizeMediaType = (type: string): string => (type.split(';', 1)[0] ?? '').trim().toLowerCase()

/**
 * Gives a recording a file name and media type that match its format, so every vendor recognizes it. Detects the format from the bytes, or else from
 * the type, or else from the file extension. Names and types that already match stay unchanged.
 */
export function normalizeRecording({ bytes, type, fileName }: Recording): Recording {
  const [, stem = '', fileExtension = ''] = /^(.*)\.(\w{2,5})$/s.exec(fileName) ?? []
  const formatFromName = formatByExtension.get(fileExtension.toLowerCase())
  const bareType = normalizeMediaType(type)
  const formatFromType = formatByType.get(bareType.replace('/x-', '/'))
  const isAudioType = /^(?:audio|video)\/[\w.+-]+$/.test(bareType)
  const format = detectFormat(bytes) ?? formatFromType ?? formatFromName
  if (format === undefined) {
    // The format is unknown, so this keeps the type or extension that the client sent.
    const extension = isAudioType
      ? bareType.slice(bareType.indexOf('/') + 1).replace(/^x-/, '')
      : fileExtension.toLowerCase()
    const isValidExtension = /^[a-z\d]{2,5}$/.test(extension)
    return {
      bytes,
      type: isAudioType ? bareType : isValidExtension ? `audio/${extension}` : 'audio/mpeg',
      fileName: fileExtension === '' ? `${replaceBlob(fileName)}.${isValidExtension ? extension : 'mp3'}` : fileName,
    }
  }
  const { extensions, types } = AUDIO_FORMATS[format] ?? { extensions: ['mp3'], types: ['audio/mpeg'] }
  return {
    bytes,
    type: formatFromType === format && isAudioType ? bareType : (types[0] ?? ''),
    fileName:
      formatFromName === format
        ? fileName
        : `${replaceBlob(formatFromName === undefined ? fileName : stem)}.${extensions[0]}`,
  }
}

/** Replaces the name `blob`, which browsers give to unnamed files. */
const replaceBlob = (fileName: string): string => (/^(?:blob)?$/i.test(fileName) ? 'audio' : fileName)
