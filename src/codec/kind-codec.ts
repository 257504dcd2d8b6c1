import { createWarnings } from '../formats/canonical/warnings.ts'
import { sharedFormatOf, upstreamFormatOf } from '../formats/formats.ts'
import { hasForms } from '../kinds/endpoint.ts'
import type { Carried, CarriedPart, KindCall } from '../kinds/forms.ts'
import { encodeUtf8 } from '../lib/bytes.ts'
import { newId } from '../lib/new-id.ts'
import { once } from '../lib/promises.ts'
import { withoutTrailing } from '../lib/urls.ts'
import { definitionOf } from '../providers/names.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { Catalog } from '../types.ts'
import { requestHeaders, translatedHeaders } from '../upstream/headers.ts'
import type { UpstreamRequest } from '../upstream/request.ts'
import type { AskedRequest, Codec, CodecContext, CodecPart } from './codec.ts'
import { bytesFraming, KindRelay } from './kind-relay.ts'
import { isStrict } from './losses.ts'
import { bodyFor } from './model-call.ts'
import type { FailedResponse } from './response.ts'

/**
 * The codec of a request of a kind with forms of its own, by those of its client and of the target. Rejects with `INVALID_REQUEST` when the
 * request is malformed or the target cannot carry it.
 */
export async function kindCodec(request: AskedRequest, target: RouteTarget): Promise<Codec> {
  const { call, context, format } = request
  const { endpoint } = call
  if (!hasForms(endpoint)) throw new TypeError(`The endpoint ${endpoint.path} has no forms.`)
  const forms = await endpoint.loadForms()
  const asked: KindCall = {
    client: endpoint.client,
    body: call.body,
    text: bodyFor(target.model, call),
    form: call.form,
    warningsFor: (names = {}) => createWarnings({ isStrict: isStrict(request), names }),
    header: (name) => request.exchange.header(name),
    now: () => Math.floor(context.clock.now() / 1_000),
    newId,
    describe: request.describe?.(target),
  }
  const addresses = context.fetchesMedia ? forms.addresses(asked, target) : []
  if (addresses.length > 0) asked.fetched = await (await import('./pictures.ts')).fetchPictures(addresses, request)
  const carried = forms.carry(asked, target)
  const { isPassThrough, losses, write, stream, replyType } = carried
  const address = addressOf(carried, target, context.catalog)
  const own = sharedFormatOf(format.name)
  const headers = isPassThrough
    ? requestHeaders(request.exchange, own?.defaultHeaders ?? {})
    : translatedHeaders(request.exchange, {})
  const upstream = own ?? (await upstreamFormatOf(target.format))
  const [first, ...others] = carried.parts.map((part) => codecPart(part, headers, { address, context }))
  if (!first) throw new TypeError('A request is carried by no call.')
  return {
    format: stream?.of === 'bytes' ? { ...upstream, framing: bytesFraming } : upstream,
    operation: endpoint.operation,
    ...(stream && { streams: true }),
    replyType: ({ kind, head }) => replyType(head.header('content-type'), kind === 'whole'),
    ...first,
    ...(others.length > 0 && { others, isPartial: carried.isPartial }),
    isPassThrough,
    isForClient: true,
    warnings: losses,
    readWhole(response) {
      const { parts = [response] } = response
      const answer = write(
        parts.map(({ json }) => json),
        response.usage,
      )
      if (answer instanceof Uint8Array) return answer
      if (answer === undefined) return response.bytes
      return encodeUtf8(typeof answer === 'string' ? answer : JSON.stringify(answer))
    },
    readFailure: isPassThrough ? unchanged : withoutHeaders,
    streamType: 'application/json',
    relay(body, committed, terms) {
      if (!stream) throw new TypeError('An answer of this kind is never streamed.')
      return new KindRelay(body, committed, { ...terms, stream, errors: format.errors })
    },
  }
}

/** Only images need it. */
const loadCompletion = once(() => import('./complete-answer.ts'))

const unchanged: Codec['readFailure'] = (failed) => failed

/** Without the headers of another vendor, of which clients know nothing. */
const withoutHeaders: Codec['readFailure'] = (failed: FailedResponse) => ({
  ...failed,
  failure: { headers: {}, ...failed.failure },
})

type FormAddress = Pick<UpstreamRequest, 'baseUrl' | 'keyHeader'>

/** Where the target is asked: at the connection's own address, that of the catalog for this kind, the vendor's, or that of chat. */
function addressOf(
  { address: { baseUrl, base, keyHeader, config } }: Carried,
  target: RouteTarget,
  catalog: Catalog,
): FormAddress {
  const own = target.connection.providerSpecificData?.baseUrl?.trim()
  const configured = (config && definitionOf(catalog, target.provider)?.[config]) ?? {}
  const given = own || configured.baseUrl || baseUrl || target.baseUrl
  const header = configured.keyHeader ?? keyHeader
  const address = given === undefined ? undefined : withoutTrailing(given, '/')
  return {
    ...(address !== undefined && { baseUrl: base ? base(address) : address }),
    ...(header !== undefined && { keyHeader: header.toLowerCase() }),
  }
}

function codecPart(
  { request, answers, completed }: CarriedPart,
  headers: Readonly<Record<string, string>>,
  { address, context }: { address: FormAddress; context: CodecContext },
): CodecPart {
  const { path, query = {}, method, headers: own, body, service } = request
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one) => [name, String(one)]),
  )
  const asked = given.length === 0 ? '' : `?${new URLSearchParams(given)}`
  return {
    answers,
    ...(completed && {
      complete: async (response, terms) =>
        (await loadCompletion()).completeAnswer(response, { ...terms, completed, answers, context }),
    }),
    request: {
      ...address,
      path,
      query: asked,
      headers: { ...(method === 'GET' ? withoutType(headers) : headers), ...own },
      ...(method !== 'GET' && { body: body ?? '{}' }),
      ...(service !== undefined && { service }),
    },
  }
}

/** The headers of a request without a body. */
function withoutType({ 'content-type': _, ...headers }: Readonly<Record<string, string>>): Record<string, string> {
  return headers
}
