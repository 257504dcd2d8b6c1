import { containsClientKey, gatewayError, isGatewayError } from '../errors.ts'
import type { Exchange } from '../lib/exchange.ts'
import { isMultipart, requireJson, requirePlainUtf8 } from '../lib/http-headers.ts'
import { isObject } from '../lib/json.ts'
import { getSettledValue, once } from '../lib/promises.ts'
import { readTimedBody } from '../lib/timed-body.ts'
import type { Endpoint } from '../protocols/formats/format.ts'
import { getFormat } from '../protocols/formats/formats.ts'
import { type ModelCall, parseModelCall, type RouteFields, readRouteFields } from './codec/model-call.ts'
import type { PipelineContext, RequestSettingsSource } from './context.ts'
import type { ModelRequest } from './model-request.ts'
import type { ServedRequest } from './steps.ts'

/** Reads a model request, and finds the rules for its model. Rejects with the error that the client gets. */
export async function readRequest(servedRequest: ServedRequest, context: PipelineContext): Promise<ModelRequest> {
  const { exchange, route: endpoint, caller, log } = servedRequest
  const { client } = log
  client.checkTimeout()
  for (const check of context.headerChecks) check(exchange)
  const parsedRequest = await readBody(servedRequest, context)
  log.recordRead(parsedRequest)
  context.retryBudget.earn()
  context.hedgeBudget.earn()
  const tablePromise = context.loadRoutes()
  const table = getSettledValue(tablePromise) ?? (await client.scope.race(tablePromise))
  const settingsPromise = context.readSettings()
  const settings = getSettledValue(settingsPromise) ?? (await client.scope.race(settingsPromise))
  log.finishReading(table)
  const mayRequestMedia = endpoint.format === 'gemini' && MEDIA_PATTERN.test(parsedRequest.text)
  const call = mayRequestMedia
    ? await (await loadMedia()).redirectMediaCall(parsedRequest, exchange.query, table)
    : parsedRequest
  const format = getFormat(endpoint.format)
  const source = { call, exchange, context, table, settings, log }
  const requestSettings = hasOwnSettings(source)
    ? await client.scope.race(context.readRequestSettings(source))
    : undefined
  if (requestSettings?.timeout) client.limitWait(requestSettings.timeout.ms, requestSettings.timeout.name)
  const list = requestSettings?.list
  for (const name of [call.model, ...(list?.entries ?? []).map((entry) => entry.name)])
    if (containsClientKey(name)) throw gatewayError('MODEL_NOT_FOUND', { message: KEY_AS_MODEL_MESSAGE }) // providers must not see the key
  return {
    exchange: requestSettings?.exchange ?? exchange,
    call,
    format,
    context: context.withRules(context, settings, list ?? table.findRuledCombo(call.model)),
    unruled: context,
    settings,
    table,
    ...(list && { list }),
    log,
    client,
    scope: client.scope,
    owner: caller.owner,
    ...(format.describesAttempts && { describe: (await loadResponseFacts()).createResponseDescriber(log, table) }),
  }
}

/** Reads the model call from the body. Rejects with `PAYLOAD_TOO_LARGE` if the body, or its files, are too large for the endpoint. */
async function readBody(servedRequest: ServedRequest, context: PipelineContext): Promise<ModelCall> {
  const { exchange, route: endpoint, log, pathModel } = servedRequest
  checkMediaType(exchange, servedRequest)
  const { bodyLimit = 'maxBodyBytes' } = endpoint
  const isForm = endpoint.bodyType === 'form' && isMultipart(exchange.header('content-type'))
  const getBase64Size = isForm ? undefined : endpoint.getBase64Size
  const maxBodyBytes = context.limits[bodyLimit]
  const maxBytes = getBase64Size ? Math.ceil(maxBodyBytes / 3) * 4 + MAX_FIELD_BYTES : maxBodyBytes
  const createTooLargeError = (headers: Readonly<Record<string, string>> = {}) =>
    gatewayError('PAYLOAD_TOO_LARGE', {
      message: `${getBase64Size ? "The request's files are" : 'The request body is'} larger than ${maxBodyBytes} bytes. Send less, or ask the operator of this gateway to raise limits.${bodyLimit}.`,
      headers,
    })
  let bytes: Uint8Array
  try {
    bytes = await readTimedBody(exchange, { maxBytes, timing: context.bodyTime, scope: log.client.scope })
  } catch (error) {
    if (bodyLimit === 'maxBodyBytes' || !isGatewayError(error, 'PAYLOAD_TOO_LARGE')) throw error
    throw createTooLargeError(error.headers)
  }
  const routeFields = readRouteFields(endpoint, pathModel, (name) => exchange.header(name))
  const call =
    endpoint.bodyType === 'json'
      ? parseModelCall(bytes, endpoint, routeFields)
      : await bodyReaders[endpoint.bodyType](bytes, endpoint, {
          routeFields,
          contentType: exchange.header('content-type'),
        })
  const files = call.form?.filter((part) => 'bytes' in part)
  if (getBase64Size && getBase64Size(call.body, files ?? []) > maxBodyBytes + 2) throw createTooLargeError() // `+ 2`, because base64 may be padded
  return call
}

/** Returns whether a request contains its own settings, in a header or in gateway options. */
export const hasOwnSettings = ({
  call: {
    body: { providerOptions },
  },
  exchange,
}: Pick<RequestSettingsSource, 'call' | 'exchange'>): boolean =>
  (exchange.header('x-signalbox-models') ?? exchange.header('x-signalbox-require')) !== undefined ||
  (isObject(providerOptions) && ('gateway' in providerOptions || 'signalbox' in providerOptions))

const KEY_AS_MODEL_MESSAGE =
  'The model name contains an API key of this gateway. Send the key as "Authorization: Bearer <key>", and set "model" to a name from GET /v1/models.'

/** The fields with which Google's clients request images and speech. */
const MEDIA_PATTERN = /"response_?modalities"/i
const loadMedia = once(() => import('./media-redirect.ts'))

/** Maximum size of a body without its base64 files, in bytes. */
const MAX_FIELD_BYTES = 1024 * 1024

/** Reads bodies that aren't JSON, by their endpoint's `bodyType`. Each function throws `INVALID_REQUEST` for a body that it can't read. */
const bodyReaders: Readonly<
  Record<
    Exclude<Endpoint['bodyType'], 'json'>,
    (bytes: Uint8Array, endpoint: Endpoint, source: BodySource) => Promise<ModelCall>
  >
> = {
  form: async (bytes, endpoint, { routeFields: { model: pathModel }, contentType }) =>
    (await loadForms()).parseFormCall(bytes, endpoint, { pathModel, contentType }),
  sound: async (bytes, endpoint, { routeFields }) => (await loadForms()).parseAudioCall(bytes, endpoint, routeFields),
}

/** Lazy-loaded, because few requests are forms. */
const loadForms = once(() => import('./codec/form-call.ts'))

interface BodySource {
  routeFields: RouteFields
  contentType: string | undefined
}

/** Lazy-loaded, because few formats describe how a response was produced. */
const loadResponseFacts = once(() => import('./response-facts.ts'))

/**
 * Throws `UNSUPPORTED_MEDIA_TYPE` if the headers declare a compressed or non-UTF-8 body, or, with an `Origin` header, anything but JSON: another
 * site's page could send that without a preflight (a "simple request"). A form is allowed with a credential in a header, which also requires a
 * preflight, and from an account, whose site has been checked.
 */
function checkMediaType(exchange: Exchange, { route: { bodyType }, caller }: ServedRequest): void {
  requirePlainUtf8(exchange)
  if (exchange.header('origin') === undefined) return
  const hasCredential =
    caller.account !== undefined || CREDENTIAL_HEADERS.some((name) => exchange.header(name) !== undefined)
  if (bodyType === 'form' && hasCredential && isMultipart(exchange.header('content-type'))) return
  requireJson(exchange)
}

/** Headers that a page can't set without a preflight. */
const CREDENTIAL_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key']
