import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, type JsonObject } from '../../../src/lib/json.ts'
import { skip } from '../../support/suite.ts'

const folder = new URL('../../../../shared/recordings/', import.meta.url)

/** A recorded exchange: a client's request and the provider's response. */
export interface Exchange {
  name: string
  /** Whether long media and signatures were truncated. */
  isShrunk: boolean
  url: string
  request: unknown
  status: number
  /** JSON, or the raw body of an event stream. */
  response: unknown
  sse: string | undefined
  /** The body, if it was recorded as bytes. */
  bytes: Uint8Array | undefined
}

/** How the vendor's own client understood a recorded stream. */
export interface Received {
  ok: boolean
  text?: string
  reasoning?: string
  tool_calls?: { id: string; name: string; arguments?: string; args?: unknown }[]
  finish?: string | null
  usage?: JsonObject | null
}

/** The exchanges that were read last, because tests read the same folders for one client after another. */
let last: { folders: string; exchanges: Exchange[] } | undefined

/** Returns all recorded exchanges in the given folders. Skips the test if there are no recordings. */
export function recordedExchanges(folders: readonly string[]): readonly Exchange[] {
  if (!existsSync(folder)) skip('recordings: ../shared/recordings is missing')
  if (last?.folders !== folders.join()) last = { folders: folders.join(), exchanges: readExchanges(folders) }
  return last.exchanges
}

function readExchanges(folders: readonly string[]): Exchange[] {
  return folders.flatMap((name) =>
    readdirSync(new URL(name, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.http.json'))
      .sort()
      .flatMap((path) => getExchanges(join(name, path))),
  )
}

function getExchanges(path: string): Exchange[] {
  const { source, interactions } = readJson(path)
  return interactions.map(({ request, response }: RecordedInteraction, index: number) => ({
    name: `${path} ${index}`,
    isShrunk: Boolean(source?.shrunk),
    url: request.url,
    request: request.body.json,
    status: response.status,
    response: response.body.json ?? response.body.text,
    sse: typeof response.body.sse === 'string' ? response.body.sse : undefined,
    bytes: toBytes(response.body),
  }))
}

interface RecordedStream {
  name: string
  sse: string
  received: Received
}

const known = new Map<string, RecordedStream[]>()

/** Returns one API's recorded streams, and how its client understood them. Reads them only once. Skips the test if there are no recordings. */
export function recordedStreams(api: string): RecordedStream[] {
  if (!existsSync(folder)) skip('recordings: ../shared/recordings is missing')
  const streams = known.get(api) ?? readStreams(api)
  known.set(api, streams)
  return streams
}

function readStreams(api: string): RecordedStream[] {
  const lines = readFileSync(new URL('oracle.jsonl', folder), 'utf8').trim().split('\n')
  return lines.flatMap((line) => {
    const { file, interaction, api: spoken, ...received } = JSON.parse(line)
    if (spoken !== api) return []
    const sse = getStream(readJson(file).interactions[interaction]?.response.body ?? {})
    return sse !== undefined && isHeard(received) ? [{ name: `${file} ${interaction}`, sse, received }] : []
  })
}

/** Returns a stream's text. Some streams were stored as the JSON of their events. */
function getStream({ sse, chunks }: JsonObject): string | undefined {
  if (Array.isArray(chunks)) return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')
  return typeof sse === 'string' ? sse : undefined
}

function toBytes({ base64, hex }: JsonObject): Uint8Array | undefined {
  if (typeof base64 === 'string') return Uint8Array.from(Buffer.from(base64, 'base64'))
  return typeof hex === 'string' ? Uint8Array.from(Buffer.from(hex, 'hex')) : undefined
}

interface RecordedInteraction {
  request: { url: string; body: JsonObject }
  response: { status: number; body: JsonObject }
}

const readJson = (path: string): { source?: { shrunk?: boolean }; interactions: RecordedInteraction[] } =>
  JSON.parse(readFileSync(new URL(path, folder), 'utf8'))

const isHeard = (value: unknown): value is Received => isObject(value) && typeof value.ok === 'boolean'
