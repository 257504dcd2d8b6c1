import { base64Source, isSniffed, type MediaSource, typeOfUrl } from '../formats/canonical/media.ts'
import { type AddressedPart, withSources } from '../formats/canonical/prepare/inputs.ts'
import type { Turn } from '../formats/canonical/turns.ts'
import type { Warnings } from '../formats/canonical/warnings.ts'
import { decodeUtf8, toBase64 } from '../lib/bytes.ts'
import type { AskedRequest } from './codec.ts'
import { addressProblem, type DownloadTerms, download, MAX_BYTES_TOGETHER } from './download.ts'
import type { ModelCall } from './model-call.ts'

type AddressedKind = AddressedPart['type']

/** A medium with its size in bytes, or why there is none. */
type Medium = { source: MediaSource; size: number; problem?: undefined } | { problem: string }

interface Downloads {
  allowance: { left: number }
  /** By kind, the type that the client says, and address: what the bytes are taken for depends on all three. */
  media: Map<string, Promise<Medium>>
  /** Those that wait for others to end. */
  waiting: (() => void)[]
  running: number
}

/** The downloads of each request: its next target finds them there. */
const kept = new WeakMap<ModelCall, Downloads>()

const MAX_MEDIA = 20
const MAX_AT_ONCE = 4

/**
 * The turns with the bytes of `parts` in place of their addresses; each address is fetched once a request for each type that is declared of
 * it. Refuses what cannot be had, by its path. A request that is only explained is only checked.
 */
export async function fetchMedia(
  turns: readonly Turn[],
  parts: readonly AddressedPart[],
  { request, warnings }: { request: AskedRequest; warnings: Warnings },
): Promise<Turn[]> {
  const { scope, call, context } = request

  function refuse(part: AddressedPart, url: URL | undefined, problem: string): never {
    const from = url?.hostname ? ` from "${url.hostname}"` : '' // the rest of an address may hold a secret
    const what = `the target takes no addresses, and the gateway cannot fetch this ${part.type}${from}`
    return warnings.refuse(warnings.pathOf(part, 'turns'), `${what}: ${problem}. Send it as base64.`)
  }

  const addresses = new Map<AddressedPart, URL>()
  for (const part of parts) {
    const url = addressOf(part)
    if (!url) return refuse(part, url, 'it is no address')
    const problem = addressProblem(url)
    if (problem) return refuse(part, url, problem)
    addresses.set(part, url)
  }
  if (!scope) return withSources(turns, new Map(parts.map((part) => [part, STAND_INS[part.type]])))

  const downloads = downloadsOf(call)
  const terms = { fetch: context.fetch, clock: context.clock, scope, allowance: downloads.allowance }
  const sources = new Map<object, MediaSource>()
  let left = MAX_BYTES_TOGETHER // an address that is named often is sent as often
  async function load(part: AddressedPart, url: URL) {
    const found = await mediumOf(part, url, { downloads, terms })
    if (found.problem !== undefined) return refuse(part, url, found.problem)
    left -= found.size
    if (left < 0) return refuse(part, url, 'all together are too large')
    sources.set(part, found.source)
  }
  await Promise.all([...addresses].map(([part, url]) => load(part, url)))
  return withSources(turns, sources)
}

function addressOf({ source }: AddressedPart): URL | undefined {
  if (!URL.canParse(source.url)) return undefined
  const url = new URL(source.url)
  url.hash = ''
  return url
}

function downloadsOf(call: ModelCall): Downloads {
  const known = kept.get(call)
  if (known) return known
  const downloads = { allowance: { left: MAX_BYTES_TOGETHER }, media: new Map(), waiting: [], running: 0 }
  kept.set(call, downloads)
  return downloads
}

function mediumOf(
  part: AddressedPart,
  url: URL,
  { downloads, terms }: { downloads: Downloads; terms: DownloadTerms },
): Promise<Medium> {
  const { media } = downloads
  const key = `${part.type} ${part.source.mediaType ?? ''} ${url.href}`
  const known = media.get(key)
  if (known !== undefined) return known
  if (media.size >= MAX_MEDIA) return Promise.resolve({ problem: `there are more than ${MAX_MEDIA}` })
  const started = inTurn(downloads, () => downloadMedium(part, url, terms))
  media.set(key, started)
  return started
}

async function downloadMedium(part: AddressedPart, url: URL, terms: DownloadTerms): Promise<Medium> {
  const found = await download(url, terms)
  if (found.problem !== undefined) return found
  const source = mediaOfBytes(found.bytes, found.mediaType, part)
  return source ? { source, size: found.bytes.length } : { problem: `it is no ${KINDS[part.type]}` }
}

/** A few at once; one that ends hands its place to the next. */
async function inTurn<T>(downloads: Downloads, work: () => Promise<T>): Promise<T> {
  if (downloads.running < MAX_AT_ONCE) downloads.running++
  else await new Promise<void>((resolve) => downloads.waiting.push(resolve))
  try {
    return await work()
  } finally {
    const next = downloads.waiting.shift()
    if (next) next()
    else downloads.running--
  }
}

const KINDS: Readonly<Record<AddressedKind, string>> = {
  image: 'image',
  file: 'PDF, office document or plain text',
  audio: 'sound',
  video: 'video',
}

/** In the explanation of a request, which is not made. */
const STAND_INS: Readonly<Record<AddressedKind, MediaSource>> = {
  image: { type: 'base64', mediaType: 'image/png', data: '' },
  file: { type: 'base64', mediaType: 'application/pdf', data: '' },
  audio: { type: 'base64', mediaType: 'audio/mpeg', data: '' },
  video: { type: 'base64', mediaType: 'video/mp4', data: '' },
}

/**
 * Bytes as the source of a part; `undefined` when they are not what the part is, by what is declared and by their first bytes. A type that
 * is known by its first bytes must have them. Where nothing is declared, the others are known by what the client says, and by the address.
 */
function mediaOfBytes(
  bytes: Uint8Array,
  declared: string,
  { type: kind, source: asked }: AddressedPart,
): MediaSource | undefined {
  if (kind === 'file' && declared.startsWith('text/')) return textOf(bytes, declared)
  const data = toBase64(bytes)
  const said = UNSAID.test(declared) ? (asked.mediaType?.toLowerCase() ?? typeOfUrl(asked.url) ?? '') : declared
  const mediaType = base64Source('', data).mediaType || (isSniffed(said) ? '' : said)
  return TYPES[kind].test(mediaType) ? { type: 'base64', mediaType, data } : undefined
}

function textOf(bytes: Uint8Array, mediaType: string): MediaSource | undefined {
  try {
    return { type: 'text', mediaType, text: decodeUtf8(bytes) }
  } catch {
    return undefined
  }
}

const UNSAID = /^(?:|(?:application|binary)\/octet-stream)$/

/** Not `svg+xml`, which is a program as well as a picture, and which no model takes. */
const TYPES: Readonly<Record<AddressedPart['type'], RegExp>> = {
  image: /^image\/[a-z0-9.-]+$/,
  audio: /^audio\/[a-z0-9.+-]+$/,
  video: /^video\/[a-z0-9.+-]+$/,
  file: /^application\/(?:pdf|rtf|msword|vnd\.(?:ms-(?:excel|powerpoint)|openxmlformats-officedocument|oasis\.opendocument)[a-z0-9.-]*)$/,
}
