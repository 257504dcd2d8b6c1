import { decodeUtf8, toBase64 } from '../../lib/bytes.ts'
import {
  canSniff,
  createBase64Source,
  guessMediaType,
  type MediaSource,
} from '../../protocols/formats/canonical/canonical-media.ts'
import type { Turn } from '../../protocols/formats/canonical/canonical-turns.ts'
import type { Warnings } from '../../protocols/formats/canonical/canonical-warnings.ts'
import { replaceSources, type UrlPart } from '../../protocols/formats/canonical/prepare/inputs.ts'
import type { CodecRequest } from './codec.ts'
import { type DownloadOptions, download, findUrlProblem, MAX_TOTAL_BYTES } from './download.ts'
import type { ModelCall } from './model-call.ts'

type UrlKind = UrlPart['type']

/** The file and its size in bytes, or the reason why the file is missing. */
type Medium = { source: MediaSource; size: number; problem?: undefined } | { problem: string }

interface Downloads {
  allowance: { remainingBytes: number }
  /** Media by part type, media type in the request, and URL, because all three affect how the bytes are interpreted. */
  media: Map<string, Promise<Medium>>
  /** Downloads that are waiting for a free slot. */
  queue: (() => void)[]
  runningCount: number
}

/** Each request's downloads, kept for its next targets. */
const downloadsByCall = new WeakMap<ModelCall, Downloads>()

const MAX_MEDIA = 20
const MAX_CONCURRENT = 4

/**
 * Replaces the URLs of `parts` with the downloaded bytes. Each URL is downloaded once per request and declared media type. Rejects a part that can't
 * be downloaded, naming its path. If a request is only explained, URLs are only checked.
 */
export async function fetchMedia(
  turns: readonly Turn[],
  parts: readonly UrlPart[],
  { request, warnings }: { request: CodecRequest; warnings: Warnings },
): Promise<Turn[]> {
  const { scope, call, context } = request

  function rejectPart(part: UrlPart, url: URL | undefined, problem: string): never {
    const origin = url?.hostname ? ` from "${url.hostname}"` : '' // the path or query may contain a secret
    const reason = `the target does not accept URLs, and the gateway cannot fetch this ${part.type}${origin}`
    return warnings.reject(warnings.getPath(part, 'turns'), `${reason}: ${problem}. Send it as base64.`)
  }

  const urls = new Map<UrlPart, URL>()
  for (const part of parts) {
    const url = parseUrl(part)
    if (!url) return rejectPart(part, url, 'it is not a valid URL')
    const problem = findUrlProblem(url)
    if (problem) return rejectPart(part, url, problem)
    urls.set(part, url)
  }
  if (!scope) return replaceSources(turns, new Map(parts.map((part) => [part, PLACEHOLDER_SOURCES[part.type]])))

  const downloads = getDownloads(call)
  const options = { fetch: context.fetch, clock: context.clock, scope, allowance: downloads.allowance }
  const sources = new Map<object, MediaSource>()
  let remainingBytes = MAX_TOTAL_BYTES // counts a repeated URL each time, because its bytes are sent each time
  async function loadPart(part: UrlPart, url: URL) {
    const medium = await getMedium(part, url, { downloads, options })
    if (medium.problem !== undefined) return rejectPart(part, url, medium.problem)
    remainingBytes -= medium.size
    if (remainingBytes < 0) return rejectPart(part, url, 'the files together are too large')
    sources.set(part, medium.source)
  }
  await Promise.all([...urls].map(([part, url]) => loadPart(part, url)))
  return replaceSources(turns, sources)
}

function parseUrl({ source }: UrlPart): URL | undefined {
  if (!URL.canParse(source.url)) return undefined
  const url = new URL(source.url)
  url.hash = ''
  return url
}

function getDownloads(call: ModelCall): Downloads {
  const existing = downloadsByCall.get(call)
  if (existing) return existing
  const downloads = { allowance: { remainingBytes: MAX_TOTAL_BYTES }, media: new Map(), queue: [], runningCount: 0 }
  downloadsByCall.set(call, downloads)
  return downloads
}

function getMedium(
  part: UrlPart,
  url: URL,
  { downloads, options }: { downloads: Downloads; options: DownloadOptions },
): Promise<Medium> {
  const { media } = downloads
  const key = `${part.type} ${part.source.mediaType ?? ''} ${url.href}`
  const existing = media.get(key)
  if (existing !== undefined) return existing
  if (media.size >= MAX_MEDIA) return Promise.resolve({ problem: `the request has more than ${MAX_MEDIA}` })
  const medium = runLimited(downloads, () => downloadMedium(part, url, options))
  media.set(key, medium)
  return medium
}

async function downloadMedium(part: UrlPart, url: URL, options: DownloadOptions): Promise<Medium> {
  const downloaded = await download(url, options)
  if (downloaded.problem !== undefined) return downloaded
  const source = toSource(downloaded.bytes, downloaded.mediaType, part)
  return source ? { source, size: downloaded.bytes.length } : { problem: `it is not ${KIND_WORDS[part.type]}` }
}

/** Runs a few downloads at a time. A finished download passes its slot to the next one. */
async function runLimited<T>(downloads: Downloads, work: () => Promise<T>): Promise<T> {
  if (downloads.runningCount < MAX_CONCURRENT) downloads.runningCount++
  else await new Promise<void>((resolve) => downloads.queue.push(resolve))
  try {
    return await work()
  } finally {
    const startNext = downloads.queue.shift()
    if (startNext) startNext()
    else downloads.runningCount--
  }
}

const KIND_WORDS: Readonly<Record<UrlKind, string>> = {
  image: 'an image',
  file: 'a PDF, an Office document, or a text file',
  audio: 'an audio file',
  video: 'a video',
}

/** Placeholders for a request that is only explained. */
const PLACEHOLDER_SOURCES: Readonly<Record<UrlKind, MediaSource>> = {
  image: { type: 'base64', mediaType: 'image/png', data: '' },
  file: { type: 'base64', mediaType: 'application/pdf', data: '' },
  audio: { type: 'base64', mediaType: 'audio/mpeg', data: '' },
  video: { type: 'base64', mediaType: 'video/mp4', data: '' },
}

/**
 * Converts the bytes to a part's source. Returns `undefined` if the declared type or the first bytes don't match the part. If a type has known first
 * bytes, they must match. For other types, the request or the URL determines the type if the server doesn't declare one.
 */
function toSource(bytes: Uint8Array, declaredType: string, { type: kind, source }: UrlPart): MediaSource | undefined {
  if (kind === 'file' && declaredType.startsWith('text/')) return toTextSource(bytes, declaredType)
  const data = toBase64(bytes)
  const likelyType = UNDECLARED_TYPE_PATTERN.test(declaredType)
    ? (source.mediaType?.toLowerCase() ?? guessMediaType(source.url) ?? '')
    : declaredType
  const mediaType = createBase64Source('', data).mediaType || (canSniff(likelyType) ? '' : likelyType)
  return TYPE_PATTERNS[kind].test(mediaType) ? { type: 'base64', mediaType, data } : undefined
}

function toTextSource(bytes: Uint8Array, mediaType: string): MediaSource | undefined {
  try {
    return { type: 'text', mediaType, text: decodeUtf8(bytes) }
  } catch {
    return undefined
  }
}

const UNDECLARED_TYPE_PATTERN = /^(?:|(?:application|binary)\/octet-stream)$/

/** Excludes `svg+xml`, which can contain scripts, and which no model accepts. */
const TYPE_PATTERNS: Readonly<Record<UrlPart['type'], RegExp>> = {
  image: /^image\/[a-z0-9.-]+$/,
  audio: /^audio\/[a-z0-9.+-]+$/,
  video: /^video\/[a-z0-9.+-]+$/,
  file: /^application\/(?:pdf|rtf|msword|vnd\.(?:ms-(?:excel|powerpoint)|openxmlformats-officedocument|oasis\.opendocument)[a-z0-9.-]*)$/,
}
