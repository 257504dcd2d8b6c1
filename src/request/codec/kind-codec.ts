import { encodeUtf8 } from '../../lib/bytes.ts'
import { newId } from '../../lib/new-id.ts'
import { trimTrailing } from '../../lib/urls.ts'
import { createWarnings } from '../../protocols/formats/canonical/canonical-warnings.ts'
import { getSharedFormat, loadUpstreamFormat } from '../../protocols/formats/formats.ts'
import { hasAdapters } from '../../protocols/kinds/endpoint.ts'
import type { KindCall, PreparedCall, PreparedPart } from '../../protocols/kinds/kind-adapters.ts'
import { getDefinition } from '../../protocols/providers/provider-names.ts'
import type { Catalog } from '../../types.ts'
import type { RouteTarget } from '../routing/group.ts'
import { copyNeutralHeaders, copyRequestHeaders } from '../upstream/upstream-headers.ts'
import type { UpstreamRequest } from '../upstream/upstream-request.ts'
import type { Codec, CodecContext, CodecPart, CodecRequest } from './codec.ts'
import { completeBufferedResponse } from './complete-response.ts'
import { isStrict } from './dropped-fields.ts'
import { bytesFraming, KindRelay } from './kind-relay.ts'
import { replaceModelName } from './model-call.ts'
import type { FailedResponse } from './response.ts'

/**
 * Returns the codec for a request of a kind that has its own client and vendor formats. Rejects with `INVALID_REQUEST` if the request is malformed or
 * the target doesn't support it.
 */
export async function createKindCodec(request: CodecRequest, target: RouteTarget): Promise<Codec> {
  const { call, context, format } = request
  const { endpoint } = call
  if (!hasAdapters(endpoint)) throw new TypeError(`The endpoint ${endpoint.path} has no adapters.`)
  const adapters = await endpoint.loadAdapters()
  const kindCall: KindCall = {
    client: endpoint.client,
    body: call.body,
    text: replaceModelName(target.model, call),
    form: call.form,
    warningsFor: (names = {}) => createWarnings({ isStrict: isStrict(request), names }),
    header: (name) => request.exchange.header(name),
    now: () => Math.floor(context.clock.now() / 1_000),
    newId,
    describe: request.describe?.(target),
  }
  const imageUrls = context.fetchesMedia ? adapters.getImageUrls(kindCall, target) : []
  if (imageUrls.length > 0)
    kindCall.fetchedImages = await (await import('./fetch-images.ts')).fetchImages(imageUrls, request)
  const prepared = adapters.prepare(kindCall, target)
  const { isPassThrough, listDroppedFields, writeResponse, stream, getContentType } = prepared
  const callUrl = getBaseUrl(prepared, target, context.catalog)
  const sharedFormat = getSharedFormat(format.name)
  const headers = isPassThrough
    ? copyRequestHeaders(request.exchange, sharedFormat?.defaultHeaders ?? {})
    : copyNeutralHeaders(request.exchange, {})
  const upstreamFormat = sharedFormat ?? (await loadUpstreamFormat(target.format))
  const [firstPart, ...otherParts] = prepared.parts.map((part) =>
    createCodecPart(part, headers, { address: callUrl, context }),
  )
  if (!firstPart) throw new TypeError('No call was made for the request.')
  return {
    format: stream?.framing === 'bytes' ? { ...upstreamFormat, framing: bytesFraming } : upstreamFormat,
    operation: endpoint.operation,
    ...(stream && { alwaysStreams: true }),
    replyType: ({ kind, head }) => getContentType(head.header('content-type'), kind === 'whole'),
    ...firstPart,
    ...(otherParts.length > 0 && { otherParts, isPartial: prepared.allowsPartialSuccess }),
    isPassThrough,
    isForClient: true,
    warnings: listDroppedFields,
    readWhole(response) {
      const { parts = [response] } = response
      const wireResponse = writeResponse(
        parts.map(({ json }) => json),
        response.usage,
      )
      if (wireResponse instanceof Uint8Array) return wireResponse
      if (wireResponse === undefined) return response.bytes
      return encodeUtf8(typeof wireResponse === 'string' ? wireResponse : JSON.stringify(wireResponse))
    },
    readFailure: isPassThrough ? keepFailure : removeHeaders,
    streamType: 'application/json',
    relay(body, committed, options) {
      if (!stream) throw new TypeError('Responses of this kind are never streamed.')
      return new KindRelay(body, committed, { ...options, stream, loadErrors: format.loadErrors })
    },
  }
}

const keepFailure: Codec['readFailure'] = (failed) => failed

/** Removes another vendor's headers, because they mean nothing to clients. */
const removeHeaders: Codec['readFailure'] = (failed: FailedResponse) => ({
  ...failed,
  failure: { headers: {}, ...failed.failure },
})

type CallUrl = Pick<UpstreamRequest, 'baseUrl' | 'keyHeader'>

/** Returns the base URL for the call: the connection's own, the catalog's for this kind, the vendor's, or the one for chat. */
function getBaseUrl(
  { urlOverrides: { baseUrl, adaptBaseUrl, keyHeader, configField } }: PreparedCall,
  target: RouteTarget,
  catalog: Catalog,
): CallUrl {
  const connectionUrl = target.connection.providerSpecificData?.baseUrl?.trim()
  const configuredUrl = (configField && getDefinition(catalog, target.provider)?.[configField]) ?? {}
  const resolvedBaseUrl = connectionUrl || configuredUrl.baseUrl || baseUrl || target.baseUrl
  const header = configuredUrl.keyHeader ?? keyHeader
  const trimmedUrl = resolvedBaseUrl === undefined ? undefined : trimTrailing(resolvedBaseUrl, '/')
  return {
    ...(trimmedUrl !== undefined && { baseUrl: adaptBaseUrl ? adaptBaseUrl(trimmedUrl) : trimmedUrl }),
    ...(header !== undefined && { keyHeader: header.toLowerCase() }),
  }
}

function createCodecPart(
  { request, reader, completeResponse }: PreparedPart,
  headers: Readonly<Record<string, string>>,
  { address: callUrl, context }: { address: CallUrl; context: CodecContext },
): CodecPart {
  const { path, query = {}, method, headers: vendorHeaders, body, service } = request
  const queryPairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((item) => [name, String(item)]),
  )
  const queryText = queryPairs.length === 0 ? '' : `?${new URLSearchParams(queryPairs)}`
  return {
    reader,
    ...(completeResponse && {
      complete: async (response, options) =>
        completeBufferedResponse(response, { ...options, completeResponse, reader, context }),
    }),
    request: {
      ...callUrl,
      path,
      query: queryText,
      headers: { ...(method === 'GET' ? removeContentType(headers) : headers), ...vendorHeaders },
      ...(method !== 'GET' && { body: body ?? '{}' }),
      ...(service !== undefined && { service }),
    },
  }
}

function removeContentType({
  'content-type': _,
  ...headers
}: Readonly<Record<string, string>>): Record<string, string> {
  return headers
}
