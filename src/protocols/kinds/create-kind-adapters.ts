import { concatBytes, encodeUtf8 } from '../../lib/bytes.ts'
import { formatSseEvent } from '../../lib/sse.ts'
import { createResponseWarnings, type Warnings } from '../formats/canonical/canonical-warnings.ts'
import { addEventCharges } from '../formats/canonical/reported-cost.ts'
import { toContentFields } from '../formats/format.ts'
import type { ProviderTarget } from '../providers/target.ts'
import type {
  ClientAdapter,
  ClientStream,
  ClientWriteContext,
  KindAdapters,
  KindCall,
  KindDefinition,
  KindResponse,
  PassThrough,
  PreparedCall,
  PreparedStream,
  VendorAdapter,
  VendorStream,
} from './kind-adapters.ts'
import {
  addEstimatedUnits,
  type PartReading,
  preparePassedPart,
  prepareTranslatedPart,
  type ReadablePart,
} from './prepare-parts.ts'
import { joinResponses, pickEntries, splitRequest } from './split-request.ts'

/** Creates a kind's adapters from its definition. */
export function createKindAdapters<Req, Res extends KindResponse, Chunk = never>(
  definition: KindDefinition<Req, Res, Chunk>,
): KindAdapters {
  const { clients, vendors, fallback } = definition

  function findClient(call: KindCall): ClientAdapter<Req, Res, Chunk> {
    const client = clients[call.client]
    if (!client) throw new TypeError(`There is no client adapter "${call.client}".`)
    return client
  }

  function findVendor(target: ProviderTarget): VendorAdapter<Req, Res, Chunk> {
    const configuredVendor = target.vendorFormat && vendors.find(({ name }) => name === target.vendorFormat)
    return (
      configuredVendor ||
      vendors.find(({ matches, providers }) =>
        matches ? matches(target) : (providers?.includes(target.provider) ?? false),
      ) ||
      fallback
    )
  }

  return {
    clients: Object.keys(clients),
    vendors: [...vendors, fallback].map(({ name }) => name),
    getImageUrls(call, target) {
      if (!definition.getImageUrls || !findVendor(target).needsImageBytes) return []
      const client = findClient(call)
      return definition.getImageUrls(readRequest(client, call, call.warningsFor(client.fieldNames)))
    },
    prepare: (call, target) =>
      prepareCall(definition, { call, target, client: findClient(call), vendor: findVendor(target) }),
  }
}

/** A call with its client and vendor adapters. */
interface AdaptedCall<Req, Res extends KindResponse, Chunk> {
  call: KindCall
  target: ProviderTarget
  client: ClientAdapter<Req, Res, Chunk>
  vendor: VendorAdapter<Req, Res, Chunk>
}

function prepareCall<Req, Res extends KindResponse, Chunk>(
  definition: KindDefinition<Req, Res, Chunk>,
  adaptedCall: AdaptedCall<Req, Res, Chunk>,
): PreparedCall {
  const { splitter, configField, estimateUsage, addPriceFacts } = definition
  const { call, target, client, vendor } = adaptedCall
  const warnings = call.warningsFor(client.fieldNames)
  const request = readRequest(client, call, warnings)
  const splitRequests = splitRequest(request, splitter, {
    entries: vendor.getMaxEntries?.(target),
    tokens: vendor.getMaxTokens?.(target),
    bodyLength: call.text.length,
  })
  const isSplit = splitRequests.length > 1
  const passThrough = findPassThrough(vendor, { client: call.client, request, target, isSplit })
  const responseWarnings = createResponseWarnings()
  const createContext = (model: string): ClientWriteContext<Req> => ({
    ...{
      request,
      warnings: responseWarnings,
      provider: target.provider,
      model,
      now: call.now(),
      newId: call.newId,
    },
    listDroppedFields: warnings.list,
    describe: call.describe,
  })
  const createWriter = () => client.createStream?.(request, createContext(target.model))
  const createReader = () =>
    passThrough ? passThrough.createStream?.(request) : vendor.createStream?.(request, target)
  const vendorStream = isSplit ? undefined : createReader()
  const stream =
    vendorStream && prepareStream(vendorStream.framing, createReader, passThrough ? undefined : createWriter)
  const parts = prepareParts(definition, adaptedCall, {
    ...{ request, warnings, splitRequests, passThrough },
    stream: stream && {
      ...stream,
      acceptsType: vendorStream.framing === 'bytes' ? vendorStream.acceptsType : undefined,
    },
  })
  const { baseUrl, adaptBaseUrl, keyHeader } = vendor
  return {
    urlOverrides: { baseUrl, adaptBaseUrl, keyHeader, configField },
    parts,
    allowsPartialSuccess: splitter?.allowsPartialSuccess ?? false,
    isPassThrough: passThrough !== undefined,
    listDroppedFields: () => [...warnings.list(), ...responseWarnings.list()],
    stream: stream && {
      ...stream,
      writesEvents: createWriter()?.writesEvents ?? false,
      getUsage(reported, header) {
        const usage = addEstimatedUnits(reported ?? vendor.readHeaderUsage?.(header), estimateUsage?.(request))
        return usage && addPriceFacts ? addPriceFacts(usage, request, undefined) : usage
      },
    },
    getContentType(sentType, isComplete) {
      const isBytes = !isComplete && vendorStream?.framing === 'bytes'
      return (
        createWriter()?.getContentType(vendor.getContentType?.(request, isBytes ? sentType : undefined)) ??
        client.getContentType?.(request) ??
        'application/json'
      )
    },
    writeResponse(responses, usage) {
      const [firstResponse] = responses
      const writer = createWriter()
      const isUnchanged = firstResponse !== undefined && !parts[0]?.isCompleted(firstResponse)
      if (passThrough && isUnchanged && !writer && !isSplit)
        return passThrough.rewriteResponse?.(firstResponse, request)
      const response = joinResponses(
        parts.flatMap(({ read }, index) => (responses[index] ? [read(responses[index])] : [])),
        splitter,
      )
      const { model = target.model } = response
      if (writer) return writeChunks(writer, { ...response, usage })
      return client.write({ ...response, usage }, createContext(model))
    },
  }
}

const readRequest = <Req, Res extends KindResponse, Chunk>(
  client: ClientAdapter<Req, Res, Chunk>,
  call: KindCall,
  warnings: Warnings,
): Req =>
  client.read(call.body, {
    warnings,
    header: call.header,
    files: (call.form ?? []).filter((part) => 'bytes' in part),
    now: call.now(),
  })

/** Prepares the calls for a request: one, unless the request is split. */
function prepareParts<Req, Res extends KindResponse, Chunk>(
  { splitter, estimatesTokens, estimateUsage, completeResponse, addPriceFacts }: KindDefinition<Req, Res, Chunk>,
  { call, target, vendor }: AdaptedCall<Req, Res, Chunk>,
  { request, warnings, splitRequests, passThrough, stream }: SplitCall<Req, Res, Chunk>,
): ReadonlyArray<ReadablePart<Res>> {
  const isSplit = splitRequests.length > 1
  const context = { target, warnings, body: call.body, form: call.form, fetchedImages: call.fetchedImages }
  const partReading = {
    vendor,
    contentFields: estimatesTokens ? toContentFields() : undefined, // without output fields, because only the input has tokens
    stream,
    estimatedUsage: estimateUsage?.(request),
    addPriceFacts,
    completeResponse,
    findProblem: isSplit ? splitter?.createCheck?.() : undefined,
  }
  return splitRequests.map(({ request: partRequest, entries }) => {
    if (!passThrough) return prepareTranslatedPart(partReading, partRequest, vendor.writeRequest(partRequest, context))
    const size = splitter?.countEntries(request)
    const partFields = isSplit ? pickEntries(passThrough, { body: call.body, size, entries }) : {}
    return preparePassedPart(partReading, passThrough, { request: partRequest, text: call.text, context, partFields })
  })
}

interface SplitCall<Req, Res extends KindResponse, Chunk> {
  request: Req
  warnings: Warnings
  splitRequests: ReturnType<typeof splitRequest<Req>>
  /** Set if the call is passed through. */
  passThrough: PassThrough<Req> | undefined
  stream: PartReading<Req, Res, Chunk>['stream']
}

/** Writes a complete response for a client that reads it in chunks. */
function writeChunks<Res extends KindResponse, Chunk>(writer: ClientStream<Res, Chunk>, response: Res): Uint8Array {
  const chunks = [
    ...writer.splitResponse(response).map((chunk) => writer.writeChunk(chunk)),
    writer.writeEnd(response.usage),
  ]
  return concatBytes(chunks.filter((chunk) => chunk !== undefined))
}

/** Prepares a stream. Without `createWriter`, the client gets the stream's bytes unchanged. */
function prepareStream<Res, Chunk>(
  framing: PreparedStream['framing'],
  createReader: () => VendorStream<Chunk> | VendorStream<unknown> | undefined,
  createWriter: (() => ClientStream<Res, Chunk> | undefined) | undefined,
): Pick<PreparedStream, 'framing' | 'open'> {
  return {
    framing,
    open() {
      const reader = createReader() // a reader has state, so each stream needs its own
      const writer = createWriter?.()
      return {
        read(input) {
          const isBytes = input instanceof Uint8Array
          const content = isBytes
            ? reader?.framing === 'bytes' && reader.read(input)
            : reader?.framing === 'events' && reader.read(input)
          const { chunks = [], ...progress } = content || {}
          if (progress.usage && !isBytes) progress.usage = addEventCharges(progress.usage, input.data)
          const hasChunks = chunks.length > 0
          if (!writer) return { ...progress, hasChunks, bytes: [isBytes ? input : encodeUtf8(formatSseEvent(input))] }
          const bytes = (chunks as readonly Chunk[]).flatMap((chunk) => writer.writeChunk(chunk) ?? []) // chunks are only `unknown` if they are passed through
          return { ...progress, hasChunks, bytes }
        },
        end: (usage) => [writer?.writeEnd(usage)].filter((lastChunk) => lastChunk !== undefined),
      }
    },
  }
}

const findPassThrough = <Req, Res extends KindResponse, Chunk>(
  { passThrough = [] }: VendorAdapter<Req, Res, Chunk>,
  { client, request, target, isSplit }: { client: string; request: Req; target: ProviderTarget; isSplit: boolean },
) =>
  passThrough.find(
    (candidate) =>
      candidate.client === client &&
      (!isSplit || candidate.listFields) &&
      candidate.accepts?.(request, target) !== false,
  )
