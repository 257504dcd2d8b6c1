import * as v from 'valibot'
import { concatBytes, decodeUtf8Lenient } from '../lib/bytes.ts'
import { type Exchange, isByteStream, type Reply } from '../lib/exchange.ts'
import { InternalExchange } from '../lib/internal-exchange.ts'
import { isObject, tryParseJson } from '../lib/json.ts'
import { getCatalogModel, getPrice } from '../protocols/providers/catalog-model.ts'
import { getDefinition, getProviderNames, stripProviderName } from '../protocols/providers/provider-names.ts'
import type { ConnectionRecord } from '../records/record-collections.ts'
import type { WritableStore } from '../records/writable-store.ts'
import type { Integer } from '../types/plain-types.ts'
import type { Catalog, Clock, Kind } from '../types.ts'
import { closedObject, createInputError, fields, parseInput } from './input.ts'
import { findRecord } from './record-operations.ts'

/** Options for a connection test. */
export interface ConnectionTest {
  /** A model's ID. Default: the cheapest one that the connection lists. */
  model?: string
}

/** The result of a connection test. */
export interface TestedConnection {
  /** Whether the model responded. */
  ok: boolean
  /** The provider's status, or the gateway's if no provider was called. */
  status: Integer
  /** The request's duration, in ms. */
  ms: number
  /** The model that was called. */
  model: string
  /** Why the test failed, as a client would see it, without secrets. */
  message?: string
}

export const connectionTestInput = closedObject({ model: v.exactOptional(fields.model) })

const TIMEOUT_MS = 10_000
const MAX_MESSAGE_LENGTH = 300

/** The smallest request for each kind that can be tested cheaply. */
const requestsByKind: Readonly<Partial<Record<Kind, { path: string; body: object }>>> = {
  llm: {
    path: '/v1/messages',
    body: { max_tokens: 16, messages: [{ role: 'user', content: 'Answer with the word: ok' }] },
  },
  embedding: { path: '/v1/embeddings', body: { input: 'ok' } },
  rerank: { path: '/v1/rerank', body: { query: 'ok', documents: ['ok'] } },
}

/** Creates a function that sends a small model request to a connection, the way a client would. */
export function createConnectionTester({
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
  /** Serves a request to one of the gateway's paths. Never rejects. */
  serve(exchange: Exchange): Promise<Reply | undefined>
}) {
  return async (id: string, input: unknown = {}): Promise<TestedConnection> => {
    const requestedModel = parseInput(connectionTestInput, input).model
    const { record } = await findRecord(store.connections, 'Connection', (connection) => connection.id === id)
    const names = getProviderNames(catalog, record)
    const model = requestedModel === undefined ? chooseModel(record, catalog) : stripProviderName(requestedModel, names)
    if (model === undefined)
      throw createInputError('"model" is required because the connection lists no models; set it to a model ID')
    const request = requestsByKind[getKind(record, model, catalog)]
    if (!request) throw createInputError(`"model" must be a chat, embedding, or reranking model; "${model}" is not`)
    const startedAt = clock.now()
    const reply = await serve(
      new InternalExchange({
        path: basePath + request.path,
        body: { ...request.body, model: `${names.id}/${model}` },
        headers: new Map([['x-signalbox-timeout-ms', `${TIMEOUT_MS}`]]),
        actsAs: { connectionId: id },
      }),
    )
    const { status = 404, headers = {}, body } = reply ?? {}
    const text = await readBodyText(body)
    const result = { ok: status === 200, status, ms: clock.now() - startedAt, model }
    return result.ok ? result : { ...result, status: findLastStatus(headers) ?? status, message: findMessage(text) }
  }
}

const getKind = ({ provider }: ConnectionRecord, model: string, catalog: Catalog): Kind =>
  getCatalogModel(catalog, { provider, model })?.type ?? 'llm'

/** Returns a test's default model: the cheapest one with a small request, chat models first. */
function chooseModel(record: ConnectionRecord, catalog: Catalog): string | undefined {
  const { provider, providerSpecificData } = record
  const kinds: readonly string[] = Object.keys(requestsByKind)
  const listedModels =
    providerSpecificData?.enabledModels ?? getDefinition(catalog, provider)?.models?.map(({ id }) => id)
  const candidates = (listedModels ?? []).flatMap((model) => {
    const rank = kinds.indexOf(getKind(record, model, catalog))
    const { output = Number.MAX_VALUE } = getPrice(catalog, { provider, model }) ?? {}
    return rank < 0 ? [] : [{ model, rank, output }]
  })
  return candidates.sort((a, b) => a.rank - b.rank || a.output - b.output)[0]?.model
}

/** Returns the last attempt's status, from the attempts header. The reply's own status may differ, such as 529 instead of 503. */
function findLastStatus(headers: Reply['headers']): number | undefined {
  const [last] = [...(headers['x-signalbox-attempts'] ?? '').matchAll(/=(\d{3})\b/g)].reverse()
  return last && Number(last[1])
}

async function readBodyText(body: Reply['body']): Promise<string> {
  if (body === undefined || typeof body === 'string') return body ?? ''
  if (!isByteStream(body)) return decodeUtf8Lenient(body)
  const chunks: Uint8Array[] = []
  for (let chunk = await body.next(); chunk; chunk = await body.next()) chunks.push(chunk)
  return decodeUtf8Lenient(concatBytes(chunks))
}

/** Finds the error message in a body of any format. */
function findMessage(text: string): string {
  const body: unknown = tryParseJson(text)
  const error = isObject(body) ? (body.error ?? body) : undefined
  const detail = isObject(error) ? error.message : error
  const message = typeof detail === 'string' ? detail : 'It gave no reason.'
  return message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH - 1)}…` : message
}
