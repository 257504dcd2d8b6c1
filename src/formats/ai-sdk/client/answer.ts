import { assertNever } from '../../../lib/assert-never.ts'
import type { JsonObject } from '../../../lib/json.ts'
import type { Answer, Finish, FinishReason, TokenUsage } from '../../canonical/answer.ts'
import type { AssistantPart, Citation, HostedCall, ServerToolPart } from '../../canonical/parts.ts'
import { defined } from '../../canonical/values.ts'
import type { ResponseWarnings } from '../../canonical/warnings.ts'
import type { WriteContext } from '../../translator.ts'
import type {
  WireAnswer,
  WireCitation,
  WireContent,
  WireFile,
  WireFinish,
  WireMetadata,
  WireSource,
  WireUsage,
  WireWarning,
  WireWholePart,
} from '../wire.ts'
import { wireFacts, wireWarnings } from './facts.ts'
import { generatedImage, shownCall } from './hosted-tools.ts'
import { textMetadata, wireState } from './metadata.ts'
import { type AiSdkClient, clientOf } from './request.ts'

/** Writes a whole answer for a client. */
export function writeAnswer({ choices, usage, id }: Answer, context: WriteContext): WireAnswer {
  const { content, finish } = choices[0] ?? { content: [], finish: { reason: 'stop' as const } }
  const client = clientOf(context.request)
  const sources = createSources(client, context)
  return {
    content: content.flatMap((part): WireContent[] => writePart(part, { client, sources, context })),
    finishReason: wireFinish(finish, isRefused(content)),
    usage: wireUsage(usage),
    warnings: requestWarnings(context),
    response: responseOf(id, context),
    ...answerMetadata(usage, context),
  }
}

const isRefused = (content: readonly AssistantPart[]) => content.some(({ type }) => type === 'refusal')

interface PartContext {
  client: AiSdkClient
  sources: Sources
  context: Pick<WriteContext, 'newId' | 'responseWarnings'>
}

function writePart(part: AssistantPart, { client, sources, context }: PartContext): WireContent[] {
  switch (part.type) {
    case 'text': {
      const cited = sources.take(part.citations ?? [])
      if (part.text === '' && !part.state) return cited.sources
      const citations = client.version.citesInTexts && cited.citations.length > 0 ? { citations: cited.citations } : {}
      return [{ type: 'text', text: part.text, ...citations, ...textMetadata(part) }, ...cited.sources]
    }
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }]
    case 'reasoning':
      return [{ type: 'reasoning', text: part.text, ...wireState(part.state) }]
    case 'audio': {
      const text = part.transcript ? [{ type: 'text' as const, text: part.transcript }] : []
      return [...text, ...writeWhole(part, { client, sources, context })]
    }
    default:
      return writeWhole(part, { client, sources, context })
  }
}

/** Writes a part that is the same in a whole answer and in a stream. */
export function writeWhole(
  part: Exclude<AssistantPart, { type: 'text' | 'refusal' | 'reasoning' }>,
  { client, sources, context }: PartContext,
): WireWholePart[] {
  switch (part.type) {
    case 'tool-call':
      return [
        {
          type: 'tool-call',
          toolCallId: part.id,
          toolName: part.name,
          input: part.isFreeForm ? JSON.stringify(part.arguments) : part.arguments.trim() || '{}',
          ...wireState(part.state),
        },
      ]
    case 'server-tool':
      return part.hosted ? writeHosted(part.id, part.hosted, client) : writeSearch(part, client, sources)
    case 'image': {
      const called = generatedImage(part, client.hosted)
      if (called) return writeHosted(`call_${context.newId()}`, called, client)
      return writeFile(part, client, context.responseWarnings)
    }
    case 'audio':
      return writeFile(part, client, context.responseWarnings)
    case 'compaction': // only clients of Responses ask for a compaction
      return []
    default:
      return assertNever(part)
  }
}

/** The call of a tool that ran at the provider, and its result. */
function writeHosted(toolCallId: string, called: HostedCall, { hosted }: AiSdkClient): WireWholePart[] {
  const { tool, input, ...result } = shownCall(called, hosted)
  return [
    { type: 'tool-call', toolCallId, ...tool, input: JSON.stringify(input), providerExecuted: true },
    { type: 'tool-result', toolCallId, ...tool, ...result },
  ]
}

/** A web search by the provider: its call, its results, and each page as a source. A search that the client has not offered is marked as `dynamic`. */
function writeSearch(
  { id, query, error, results }: ServerToolPart,
  { search }: AiSdkClient,
  sources: Sources,
): WireWholePart[] {
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
    ...sources.take(results).sources,
  ]
}

function writeFile(
  part: Extract<AssistantPart, { type: 'image' | 'audio' }>,
  { version }: AiSdkClient,
  responseWarnings: ResponseWarnings,
): WireFile[] {
  const { source, type } = part
  const state = type === 'image' ? wireState(part.state) : {}
  const file = (mediaType: string, data: WireFile['data']): WireFile[] => [{ type: 'file', mediaType, data, ...state }]
  if (source.type === 'base64')
    return file(source.mediaType, version.tagsFiles ? { type: 'data', data: source.data } : source.data)
  if (source.type === 'url' && version.tagsFiles)
    return file(source.mediaType ?? `${type}/*`, { type: 'url', url: source.url })
  responseWarnings.noteDropped(type)
  return []
}

/**
 * The sources of an answer. A page, or a file at the vendor, is one source, however often the answer finds and cites it; each citation of a document
 * is a source of its own.
 */
export interface Sources {
  /** Takes citations, or the results of a search, of which only the URL and the title are read. */
  take(found: readonly Citation[]): {
    /** The sources that the answer has not had before. */
    sources: WireSource[]
    citations: WireCitation[]
  }
}

export function createSources(
  { documents }: AiSdkClient,
  { responseWarnings }: Pick<WriteContext, 'responseWarnings'>,
): Sources {
  const taken = new Map<string, WireSource>()
  let count = 0

  function newSource(cited: Citation): WireSource | undefined {
    const { url, title, document: index, fileId } = cited
    const head = { type: 'source' as const, id: `source-${count}` }
    if (url) return { ...head, sourceType: 'url', url, ...(title && { title }) }
    const name = fileId ?? title
    const file = name
      ? { mediaType: 'text/plain', title: name, ...(fileId && title && { filename: title }) }
      : undefined
    const document = (index === undefined ? undefined : documents[index]) ?? file
    return document && { ...head, sourceType: 'document', ...document, ...(title && { title }), ...placeOf(cited) }
  }

  return {
    take(found) {
      const sources: WireSource[] = []
      const citations: WireCitation[] = []
      for (const cited of found) {
        const key = cited.url ?? (cited.document === undefined ? cited.fileId : undefined)
        const known = key ? taken.get(key) : undefined
        const source = known ?? newSource(cited)
        if (!source) {
          responseWarnings.noteDropped('citations')
          continue
        }
        if (!known) {
          sources.push(source)
          count++
        }
        if (key) taken.set(key, source)
        citations.push({ source, ...spanOf(cited) })
      }
      return { sources, citations }
    },
  }
}

/** The cited words of a document, their place in it, and where its vendor has it. */
const placeOf = ({ quote: citedText, place, fileId }: Citation): WireMetadata => ({
  providerMetadata: { signalbox: defined<JsonObject>({ citedText, place, fileId }) },
})

const spanOf = ({ start, end, quote }: Citation) => ({
  ...(start !== undefined && { startIndex: start }),
  ...(end !== undefined && { endIndex: end }),
  ...(quote !== undefined && { citedText: quote }),
})

/** How the answer ended. An answer with a refusal counts as filtered, even if the provider has reported a normal end. */
export const wireFinish = ({ reason, raw }: Finish, hasRefusal: boolean): WireFinish => ({
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

/** The counts of tokens; empty if the provider has not reported any. */
export function wireUsage(usage: TokenUsage | undefined): WireUsage {
  if (!usage) return { inputTokens: {}, outputTokens: {} }
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens } = usage
  const read = Math.min(cacheReadTokens, inputTokens)
  const written = Math.min(cacheWriteTokens, inputTokens - read) // some providers count cache reads as writes too
  return {
    inputTokens: { total: inputTokens, noCache: inputTokens - read - written, cacheRead: read, cacheWrite: written },
    outputTokens: {
      total: outputTokens,
      ...(reasoningTokens !== undefined && {
        text: Math.max(0, outputTokens - reasoningTokens),
        reasoning: reasoningTokens,
      }),
    },
  }
}

/** The losses of the request's translation, as warnings of the AI SDK. */
export const requestWarnings = ({ requestWarnings }: WriteContext): WireWarning[] =>
  wireWarnings(requestWarnings?.() ?? [])

export const responseOf = (id: string | undefined, { newId, now, model }: WriteContext) => ({
  id: id ?? `sbx_${newId()}`,
  timestamp: new Date(now * 1_000).toISOString(),
  modelId: model,
})

/** A description of the answer: the target that answered, the earlier attempts, the cost, and what the translation of the answer lost. */
export const answerMetadata = (usage: TokenUsage | undefined, context: WriteContext): WireMetadata =>
  wireFacts({
    losses: context.requestWarnings?.() ?? [],
    lost: context.responseWarnings.list(),
    usage,
    describe: context.describe,
  })
