import { type AskedBeside, askedBeside, type ModelCall, parseModelCall } from '../codec/model-call.ts'
import { gatewayError, isGatewayError } from '../errors.ts'
import type { Endpoint } from '../formats/format.ts'
import { formatOf } from '../formats/formats.ts'
import type { Exchange } from '../lib/exchange.ts'
import { isMultipart, requireJson, requirePlainUtf8 } from '../lib/http-headers.ts'
import { isObject } from '../lib/json.ts'
import { once } from '../lib/promises.ts'
import { timedBody } from '../lib/timed-body.ts'
import type { OwnTermsSource, PipelineContext } from './context.ts'
import type { ModelRequest } from './request.ts'
import type { ServedRequest } from './steps.ts'

/** Reads a model request, and finds the rules for its model. Rejects with what the client is to read as an error. */
export async function readRequest(served: ServedRequest, context: PipelineContext): Promise<ModelRequest> {
  const { exchange, endpoint, key, log, pathModel } = served
  const { client } = log
  client.checkTimeout()
  checkMediaType(exchange, endpoint)
  const { bodyLimit = 'maxBodyBytes' } = endpoint
  const isForm = endpoint.reads === 'form' && isMultipart(exchange.header('content-type'))
  const sizeInBase64 = isForm ? undefined : endpoint.sizeInBase64
  const most = context.limits[bodyLimit]
  const maxBytes = sizeInBase64 ? Math.ceil(most / 3) * 4 + BESIDE_FILES : most
  const tooLarge = (headers: Readonly<Record<string, string>> = {}) =>
    gatewayError('PAYLOAD_TOO_LARGE', {
      message: `${sizeInBase64 ? 'The files of the request are' : 'The request body is'} larger than ${most} bytes. The option limits.${bodyLimit} of the gateway raises that.`,
      headers,
    })
  const bytes = await timedBody(exchange, { maxBytes, time: context.bodyTime, scope: client.scope }).catch((thrown) => {
    if (bodyLimit === 'maxBodyBytes' || !isGatewayError(thrown, 'PAYLOAD_TOO_LARGE')) throw thrown
    throw tooLarge(thrown.headers)
  })
  const read = await readers[endpoint.reads](bytes, endpoint, {
    beside: askedBeside(endpoint, pathModel, (name) => exchange.header(name)),
    contentType: exchange.header('content-type'),
  })
  const files = read.form?.filter((part) => 'bytes' in part)
  if (sizeInBase64 && sizeInBase64(read.body, files ?? []) > most + 2) throw tooLarge() // base64 is padded
  log.asked(read)
  context.retryBudget.earn()
  context.hedgeBudget.earn()
  const { table, settings } = await client.scope.race(readRules(context))
  log.routed(table)
  const isMedia = endpoint.format === 'gemini' && MEDIA.test(read.text)
  const call = isMedia ? await (await loadMedia()).mediaCall(read, exchange.query, table) : read
  const format = formatOf(endpoint.format)
  const source = { call, exchange, context, table, settings, log }
  const own = bringsTerms(source) ? await client.scope.race(context.ownTerms(source)) : undefined
  if (own?.timeout) client.endAfter(own.timeout.ms, own.timeout.name)
  const list = own?.list
  return {
    exchange: own?.exchange ?? exchange,
    call,
    format,
    context: context.underRules(context, settings, list ?? table.ruledCombo(call.model)),
    table,
    ...(list && { list }),
    log,
    client,
    scope: client.scope,
    owner: key?.id ?? '',
    ...(format.tellsCourse && { describe: (await loadAnswerFacts()).describeAnswers(log, table) }),
  }
}

/** Does a request bring terms of its own: models in a header, or in the AI SDK's protocol options for the gateway? */
export const bringsTerms = ({
  call: { endpoint, body },
  exchange,
}: Pick<OwnTermsSource, 'call' | 'exchange'>): boolean =>
  exchange.header('x-signalbox-models') !== undefined ||
  (endpoint.format === 'ai-sdk' && isObject(body.providerOptions) && 'signalbox' in body.providerOptions)

/** What Google's clients ask for images and speech by. */
const MEDIA = /"response_?modalities"/i
const loadMedia = once(() => import('./asked-media.ts'))

/** In bytes: the most that a body has beside files in base64. */
const BESIDE_FILES = 1024 * 1024

/** How bodies are read, by the word of their endpoints. Each throws `INVALID_JSON` or `INVALID_REQUEST` on a body that it cannot read. */
const readers: Readonly<
  Record<Endpoint['reads'], (bytes: Uint8Array, endpoint: Endpoint, from: BodySource) => Promise<ModelCall>>
> = {
  json: async (bytes, endpoint, { beside }) => parseModelCall(bytes, endpoint, beside),
  form: async (bytes, endpoint, { beside: { model: pathModel }, contentType }) =>
    (await loadForms()).parseFormCall(bytes, endpoint, { pathModel, contentType }),
  sound: async (bytes, endpoint, { beside }) => (await loadForms()).parseSoundCall(bytes, endpoint, beside),
}

/** Few requests are forms. */
const loadForms = once(() => import('../codec/form-call.ts'))

interface BodySource {
  beside: AskedBeside
  contentType: string | undefined
}

/** Few formats say how their answers came about. */
const loadAnswerFacts = once(() => import('./answer-facts.ts'))

async function readRules({ routes, settings }: PipelineContext) {
  const table = await routes()
  return { table, settings: await settings() }
}

/**
 * Throws `UNSUPPORTED_MEDIA_TYPE` on a body that is compressed or not UTF-8 by its headers, and, with an `Origin` header, on one that is
 * not JSON: a page of another site could send it without a preflight (a "simple request"). A form may come with a credential in a header, as
 * that needs a preflight, too.
 */
function checkMediaType(exchange: Exchange, { reads }: Endpoint): void {
  requirePlainUtf8(exchange)
  if (exchange.header('origin') === undefined) return
  const hasCredential = CREDENTIALS.some((name) => exchange.header(name) !== undefined)
  if (reads === 'form' && hasCredential && isMultipart(exchange.header('content-type'))) return
  requireJson(exchange)
}

/** Headers that a page cannot set without a preflight. */
const CREDENTIALS = ['authorization', 'x-api-key', 'x-goog-api-key']
