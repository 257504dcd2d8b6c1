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
  PreparedStream,
  VendorAdapter,
  VendorStream,
} from './kind-adapters.ts'
import { addEstimatedUnits, preparePassedPart, prepareTranslatedPart } from './prepare-parts.ts'
import { joinResponses, pickEntries, splitRequest } from './split-request.ts'

/** Creates the adapters of a kind from their definition. All kinds share this code. */
export function createKindAdapters<Req, Res extends KindResponse, Chunk = never>(
  definition: KindDefinition<Req, Res, Chunk>,
): KindAdapters {
  const { clients, vendors, fallback, splitter, configField, estimateUsage, completeResponse, addPriceFacts } =
    definition
  const contentFields = definition.estimatesTokens ? toContentFields() : undefined // without output fields, because only the input has tokens

  return {
    clients: Object.keys(clients),
    vendors: [...vendors, fallback].map(({ name }) => name),
    getImageUrls(call, target) {
      if (!definition.getImageUrls || !findVendor(target).needsImageBytes) return []
      return definition.getImageUrls(readRequest(call, call.warningsFor(findClient(call).fieldNames)))
    },
    prepare(call, target) {
      const client = findClient(call)
      const vendor = findVendor(target)
      const warnings = call.warningsFor(client.fieldNames)
      const request = readRequest(call, warnings)
      const context = { target, warnings, body: call.body, form: call.form, fetchedImages: call.fetchedImages }
      const splitRequests = splitRequest(request, splitter, {
        entries: vendor.getMaxEntries?.(target),
        tokens: vendor.getMaxTokens?.(target),
        length: call.text.length,
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
      const reading = {
        vendor,
        contentFields,
        stream: stream && {
          ...stream,
          acceptsType: vendorStream.framing === 'bytes' ? vendorStream.acceptsType : undefined,
        },
        estimatedUsage: estimateUsage?.(request),
        addPriceFacts,
        completeResponse,
        findProblem: isSplit ? splitter?.createCheck?.() : undefined,
      }
      const parts = splitRequests.map(({ request: part, entries }) => {
        if (!passThrough) return prepareTranslatedPart(reading, part, vendor.writeRequest(part, context))
        const size = splitter?.countEntries(request)
        const list = isSplit ? pickEntries(passThrough, { body: call.body, size, entries }) : {}
        return preparePassedPart(reading, passThrough, { request: part, text: call.text, context, list })
      })
      const { baseUrl, adaptBaseUrl, keyHeader } = vendor
      return {
        urlOverrides: { baseUrl, adaptBaseUrl, keyHeader, configField },
        parts,
        isPartial: splitter?.isPartial ?? false,
        isPassThrough: passThrough !== undefined,
        listDroppedFields: () => [...warnings.list(), ...responseWarnings.list()],
        stream: stream && {
          ...stream,
          isEvents: createWriter()?.isEvents ?? false,
          getUsage(reported, header) {
            const usage = addEstimatedUnits(reported ?? vendor.readHeaderUsage?.(header), estimateUsage?.(request))
            return usage && addPriceFacts ? addPriceFacts(usage, request, undefined) : usage
          },
        },
        getContentType(sentType, isWhole) {
          const isBytes = !isWhole && vendorStream?.framing === 'bytes'
          return (
            createWriter()?.getContentType(vendor.getContentType?.(request, isBytes ? sentType : undefined)) ??
            client.getContentType?.(request) ??
            'application/json'
          )
        },
        writeResponse(responses, usage) {
          const [first] = responses
          const writer = createWriter()
          const isUnchanged = first !== undefined && !parts[0]?.isCompleted(first)
          if (passThrough && isUnchanged && !writer && !isSplit) return passThrough.rewriteResponse?.(first, request)
          const response = joinResponses(
            parts.flatMap(({ read }, index) => (responses[index] ? [read(responses[index])] : [])),
            splitter,
          )
          const { model = target.model } = response
          if (writer) return writeChunks(writer, { ...response, usage })
          return client.write({ ...response, usage }, createContext(model))
        },
      }
    },
  }

  function findClient(call: KindCall): ClientAdapter<Req, Res, Chunk> {
    const client = clients[call.client]
    if (!client) throw new TypeError(`There is no client adapter "${call.client}".`)
    return client
  }

  function readRequest(call: KindCall, warnings: Warnings): Req {
    return findClient(call).read(call.body, {
      warnings,
      header: call.header,
      files: (call.form ?? []).filter((part) => 'bytes' in part),
      now: call.now(),
    })
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
}

/** Writes a complete response for a client that reads it in chunks. */
function writeChunks<Res extends KindResponse, Chunk>(writer: ClientStream<Res, Chunk>, response: Res): Uint8Array {
  const parts = [
    ...writer.splitResponse(response).map((chunk) => writer.writeChunk(chunk)),
    writer.writeEnd(response.usage),
  ]
  return concatBytes(parts.filter((part) => part !== undefined))
}

/** Prepares a stream. Without `createWriter`, the client gets the bytes of the stream unchanged. */
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
        end: (usage) => [writer?.writeEnd(usage)].filter((last) => last !== undefined),
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
