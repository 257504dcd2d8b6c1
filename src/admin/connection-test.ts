import * as v from 'valibot'
import { concatBytes, decodeUtf8Lenient } from '../lib/bytes.ts'
import { type Exchange, isByteStream, type Reply } from '../lib/exchange.ts'
import { MadeExchange } from '../lib/internal-exchange.ts'
import { isObject, tryParseJson } from '../lib/json.ts'
import { getCatalogModel, getPrice } from '../protocols/providers/catalog-model.ts'
import { getDefinition, getProviderNames, stripName } from '../protocols/providers/names.ts'
import type { ConnectionRecord } from '../records/record-collections.ts'
import type { WritableStore } from '../records/writable-store.ts'
import type { Integer } from '../types/plain-types.ts'
import type { Catalog, Clock, Kind } from '../types.ts'
import { closed, fields, invalidInput, parseInput } from './input.ts'
import { findRecord } from './record-operations.ts'

/** The options of a test of a connection. */
export interface ConnectionTest {
  /** The id of a model; default: one that the connection lists, the cheapest of those in the catalog. */
  model?: string
}

/** The result of a test. */
export interface TestedConnection {
  /** Has it answered? */
  ok: boolean
  /** The provider's, otherwise that of the gateway's own refusal. */
  status: Integer
  /** How long the answer took. */
  ms: number
  /** The model that was asked. */
  model: string
  /** Why it has not answered, as a client would read it: without secrets. */
  message?: string
}

export const connectionTestInput = closed({ model: v.exactOptional(fields.model) })

const TIMEOUT_MS = 10_000
const MAX_MESSAGE = 300

/** The smallest request for each kind that can be asked for little. */
const requests: Readonly<Partial<Record<Kind, { path: string; body: object }>>> = {
  llm: {
    path: '/v1/messages',
    body: { max_tokens: 16, messages: [{ role: 'user', content: 'Answer with the word: ok' }] },
  },
  embedding: { path: '/v1/embeddings', body: { input: 'ok' } },
  rerank: { path: '/v1/rerank', body: { query: 'ok', documents: ['ok'] } },
}

/** Makes the function that asks a connection for one small answer, by a model request like that of a client. */
export function createConnectionTest({
  store,
  catalog,
  clock,
  basePath,
  serve,
}: {
  store: WritableStore
  catalog: Catalog
  clock: Clock
  basePath: string
  /** Serves a request to a path of the gateway. Never rejects. */
  serve(exchange: Exchange): Promise<Reply | undefined>
}) {
  return async (id: string, input: unknown = {}): Promise<TestedConnection> => {
    const given = parseInput(connectionTestInput, input).model
    const { record } = await findRecord(store.connections, 'Connection', (one) => one.id === id)
    const names = getProviderNames(catalog, record)
    const model = given === undefined ? modelToAsk(record, catalog) : stripName(given, names)
    if (model === undefined)
      throw invalidInput('"model" is required because the connection lists no models; set it to a model ID')
    const request = requests[kindOf(record, model, catalog)]
    if (!request) throw invalidInput(`"model" must be a chat, embedding, or reranking model; "${model}" is not`)
    const startedAt = clock.now()
    const reply = await serve(
      new MadeExchange({
        path: basePath + request.path,
        body: { ...request.body, model: `${names.id}/${model}` },
        headers: new Map([['x-signalbox-timeout-ms', `${TIMEOUT_MS}`]]),
        actsAs: { connectionId: id },
      }),
    )
    const { status = 404, headers = {}, body } = reply ?? {}
    const text = await textOf(body)
    const tested = { ok: status === 200, status, ms: clock.now() - startedAt, model }
    return tested.ok ? tested : { ...tested, status: statusIn(headers) ?? status, message: messageIn(text) }
  }
}

const kindOf = ({ provider }: ConnectionRecord, model: string, catalog: Catalog): Kind =>
  getCatalogModel(catalog, { provider, model })?.type ?? 'llm'

/** The model that a test uses by default: the cheapest model of the connection for which there is a small request, models of text before others. */
function modelToAsk(record: ConnectionRecord, catalog: Catalog): string | undefined {
  const { provider, providerSpecificData } = record
  const kinds: readonly string[] = Object.keys(requests)
  const listed = providerSpecificData?.enabledModels ?? getDefinition(catalog, provider)?.models?.map(({ id }) => id)
  const askable = (listed ?? []).flatMap((model) => {
    const rank = kinds.indexOf(kindOf(record, model, catalog))
    const { output = Number.MAX_VALUE } = getPrice(catalog, { provider, model }) ?? {}
    return rank < 0 ? [] : [{ model, rank, output }]
  })
  return askable.sort((a, b) => a.rank - b.rank || a.output - b.output)[0]?.model
}

/** The status of the last attempt, read from the header of attempts. The status of the reply may differ, such as 529 in place of 503. */
function statusIn(headers: Reply['headers']): number | undefined {
  const [last] = [...(headers['x-signalbox-attempts'] ?? '').matchAll(/=(\d{3})\b/g)].reverse()
  return last && Number(last[1])
}

async function textOf(body: Reply['body']): Promise<string> {
  if (body === undefined || typeof body === 'string') return body ?? ''
  if (!isByteStream(body)) return decodeUtf8Lenient(body)
  const parts: Uint8Array[] = []
  for (let part = await body.next(); part; part = await body.next()) parts.push(part)
  return decodeUtf8Lenient(concatBytes(parts))
}

/** The message of an error in any of the formats. */
function messageIn(text: string): string {
  const body: unknown = tryParseJson(text)
  const error = isObject(body) ? (body.error ?? body) : undefined
  const said = isObject(error) ? error.message : error
  const message = typeof said === 'string' ? said : 'It gave no reason.'
  return message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE - 1)}…` : message
}
