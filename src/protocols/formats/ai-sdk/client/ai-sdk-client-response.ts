import { assertNever } from '../../../../lib/assert-never.ts'
import type { JsonObject } from '../../../../lib/json.ts'
import type { AssistantPart, Citation, HostedCall, ServerToolPart } from '../../canonical/canonical-parts.ts'
import type { CanonicalResponse, Finish, FinishReason, TokenUsage } from '../../canonical/canonical-response.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import type { ResponseWarnings } from '../../canonical/canonical-warnings.ts'
import type { WriterContext } from '../../translator.ts'
import type {
  WireCitation,
  WireCompletePart,
  WireContent,
  WireFile,
  WireFinish,
  WireMetadata,
  WireResult,
  WireSource,
  WireUsage,
  WireWarning,
} from '../ai-sdk-wire.ts'
import { writeSignalboxMetadata, writeWarnings } from './ai-sdk-client-facts.ts'
import { createImageCall, writeHostedCall } from './ai-sdk-client-hosted-tools.ts'
import { writeState, writeTextMetadata } from './ai-sdk-client-metadata.ts'
import { type AiSdkClient, getClient } from './ai-sdk-client-request.ts'

/** Writes a complete response for a client. */
export function writeResult({ choices, usage, id }: CanonicalResponse, context: WriterContext): WireResult {
  const { content, finish } = choices[0] ?? { content: [], finish: { reason: 'stop' as const } }
  const client = getClient(context.request)
  const sources = createSources(client, context)
  return {
    content: content.flatMap((part): WireContent[] => writePart(part, { client, sources, context })),
    finishReason: writeFinish(
      finish,
      content.some(({ type }) => type === 'refusal'),
    ),
    usage: writeUsage(usage),
    warnings: writeRequestWarnings(context),
    response: writeResponse(id, context),
    ...writeResponseMetadata(usage, context),
  }
}

interface PartContext {
  client: AiSdkClient
  sources: Sources
  context: Pick<WriterContext, 'newId' | 'responseWarnings'>
}

function writePart(part: AssistantPart, { client, sources, context }: PartContext): WireContent[] {
  switch (part.type) {
    case 'text': {
      const citedSources = sources.collect(part.citations ?? [])
      if (part.text === '' && !part.state) return citedSources.sources
      const citations =
        client.version.citesInTexts && citedSources.citations.length > 0 ? { citations: citedSources.citations } : {}
      return [{ type: 'text', text: part.text, ...citations, ...writeTextMetadata(part) }, ...citedSources.sources]
    }
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }]
    case 'reasoning':
      return [{ type: 'reasoning', text: part.text, ...writeState(part.state) }]
    case 'audio': {
      const text = part.transcript ? [{ type: 'text' as const, text: part.transcript }] : []
      return [...text, ...writeCompletePart(part, { client, sources, context })]
    }
    default:
      return writeCompletePart(part, { client, sources, context })
  }
}

/** Writes a part that is identical in a complete response and in a stream. */
export function writeCompletePart(
  part: Exclude<AssistantPart, { type: 'text' | 'refusal' | 'reasoning' }>,
  { client, sources, context }: PartContext,
): WireCompletePart[] {
  switch (part.type) {
    case 'tool-call':
      return [
        {
          type: 'tool-call',
          toolCallId: part.id,
          toolName: part.name,
          input: part.isFreeForm ? JSON.stringify(part.arguments) : part.arguments.trim() || '{}',
          ...writeState(part.state),
        },
      ]
    case 'server-tool':
      return part.hosted ? writeHostedTool(part.id, part.hosted, client) : writeSearch(part, client, sources)
    case 'image': {
      const call = createImageCall(part, client.hostedToolNames)
      if (call) return writeHostedTool(`call_${context.newId()}`, call, client)
      return writeFile(part, client, context.responseWarnings)
    }
    case 'audio':
      return writeFile(part, client, context.responseWarnings)
    case 'compaction': // only Responses clients request a compaction
      return []
    default:
      return assertNever(part)
  }
}

function writeHostedTool(toolCallId: string, call: HostedCall, { hostedToolNames }: AiSdkClient): WireCompletePart[] {
  const { tool, input, ...result } = writeHostedCall(call, hostedToolNames)
  return [
    { type: 'tool-call', toolCallId, ...tool, input: JSON.stringify(input), providerExecuted: true },
    { type: 'tool-result', toolCallId, ...tool, ...result },
  ]
}

/**
 * Writes the provider's web search: its call, its results, and each page as a source. Marks the search as `dynamic` if the client didn't offer it.
 */
function writeSearch(
  { id, query, error, results }: ServerToolPart,
  { search }: AiSdkClient,
  sources: Sources,
): WireCompletePart[] {
  const call = {
    toolCallId: id,
    toolName: search ?? 'web_search',
    ...(search === undefined && { dynamic: true as const }),
  }
  return [
    { type: 'tool-call', ...call, input: JSON.stringify({ query }), providerExecuted: true },
    error === undefined
      ? {
          type: 'tool-result',
          ...call,
          result: results.map(({ url, title }) => ({ type: 'web_search_result', url, title })),
        }
      : { type: 'tool-result', ...call, result: { error }, isError: true },
    ...sources.collect(results).sources,
  ]
}

function writeFile(
  part: Extract<AssistantPart, { type: 'image' | 'audio' }>,
  { version }: AiSdkClient,
  responseWarnings: ResponseWarnings,
): WireFile[] {
  const { source, type } = part
  const state = type === 'image' ? writeState(part.state) : {}
  const createFile = (mediaType: string, data: WireFile['data']): WireFile[] => [
    { type: 'file', mediaType, data, ...state },
  ]
  if (source.type === 'base64')
    return createFile(source.mediaType, version.tagsFiles ? { type: 'data', data: source.data } : source.data)
  if (source.type === 'url' && version.tagsFiles)
    return createFile(source.mediaType ?? `${type}/*`, { type: 'url', url: source.url })
  responseWarnings.recordDrop(type)
  return []
}

/**
 * A response's sources. A web page or a file at the vendor is one source, no matter how often the response finds or cites it. Each citation of a
 * document is a separate source.
 */
export interface Sources {
  /** Adds citations or search results. Search results contribute only their URL and title. */
  collect(citations: readonly Citation[]): {
    /** The sources that the response hadn't cited or found before. */
    sources: WireSource[]
    citations: WireCitation[]
  }
}

export function createSources(
  { documents }: AiSdkClient,
  { responseWarnings }: Pick<WriterContext, 'responseWarnings'>,
): Sources {
  const sourcesByKey = new Map<string, WireSource>()
  let count = 0

  function createSource(cited: Citation): WireSource | undefined {
    const { url, title, document: index, fileId } = cited
    const sourceFields = { type: 'source' as const, id: `source-${count}` }
    if (url) return { ...sourceFields, sourceType: 'url', url, ...(title && { title }) }
    const name = fileId ?? title
    const file = name
      ? { mediaType: 'text/plain', title: name, ...(fileId && title && { filename: title }) }
      : undefined
    const document = (index === undefined ? undefined : documents[index]) ?? file
    return (
      document && {
        ...sourceFields,
        sourceType: 'document',
        ...document,
        ...(title && { title }),
        ...writePosition(cited),
      }
    )
  }

  return {
    collect(list) {
      const sources: WireSource[] = []
      const citations: WireCitation[] = []
      for (const cited of list) {
        const key = cited.url ?? (cited.document === undefined ? cited.fileId : undefined)
        const existing = key ? sourcesByKey.get(key) : undefined
        const source = existing ?? createSource(cited)
        if (!source) {
          responseWarnings.recordDrop('citations')
          continue
        }
        if (!existing) {
          sources.push(source)
          count++
        }
        if (key) sourcesByKey.set(key, source)
        citations.push({ source, ...writeSpan(cited) })
      }
      return { sources, citations }
    },
  }
}

const writePosition = ({ quote: citedText, position, fileId }: Citation): WireMetadata => ({
  providerMetadata: { signalbox: omitUndefined<JsonObject>({ citedText, place: position, fileId }) },
})

const writeSpan = ({ start, end, quote }: Citation) => ({
  ...(start !== undefined && { startIndex: start }),
  ...(end !== undefined && { endIndex: end }),
  ...(quote !== undefined && { citedText: quote }),
})

/** Writes how a response ended. A response with a refusal is treated as filtered, even if the provider reported a normal stop. */
export const writeFinish = ({ reason, raw }: Finish, hasRefusal: boolean): WireFinish => ({
  unified: reason === 'stop' && hasRefusal ? 'content-filter' : finishes[reason],
  ...(raw && { raw }),
})

const finishes: Readonly<Record<FinishReason, WireFinish['unified']>> = {
  stop: 'stop',
  'stop-sequence': 'stop',
  'tool-calls': 'tool-calls',
  length: 'length',
  'context-window': 'length',
  'content-filter': 'content-filter',
  pause: 'other',
  'malformed-call': 'error',
}

/** Writes the token counts, or empty ones if the provider didn't report any. */
export function writeUsage(usage: TokenUsage | undefined): WireUsage {
  if (!usage) return { inputTokens: {}, outputTokens: {} }
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens } = usage
  const cacheReads = Math.min(cacheReadTokens, inputTokens)
  const cacheWrites = Math.min(cacheWriteTokens, inputTokens - cacheReads) // some providers also count cache reads as writes
  return {
    inputTokens: {
      total: inputTokens,
      noCache: inputTokens - cacheReads - cacheWrites,
      cacheRead: cacheReads,
      cacheWrite: cacheWrites,
    },
    outputTokens: {
      total: outputTokens,
      ...(reasoningTokens !== undefined && {
        text: Math.max(0, outputTokens - reasoningTokens),
        reasoning: reasoningTokens,
      }),
    },
  }
}

/** Reports the fields that the request's translation dropped as AI SDK warnings. */
export const writeRequestWarnings = ({ requestWarnings }: WriterContext): WireWarning[] =>
  writeWarnings(requestWarnings?.() ?? [])

export const writeResponse = (id: string | undefined, { newId, nowSeconds, model }: WriterContext) => ({
  id: id ?? `sbx_${newId()}`,
  timestamp: new Date(nowSeconds * 1_000).toISOString(),
  modelId: model,
})

/** Writes metadata about a response: its target, the earlier attempts, the cost, and the fields dropped in translation. */
export const writeResponseMetadata = (usage: TokenUsage | undefined, context: WriterContext): WireMetadata =>
  writeSignalboxMetadata({
    droppedFields: context.requestWarnings?.() ?? [],
    responseDroppedFields: context.responseWarnings.list(),
    usage,
    describe: context.describe,
  })
