import { assertNever } from '../../../../lib/assert-never.ts'
import { escapeJson, tryParseJson } from '../../../../lib/json.ts'
import type { AssistantPart, Citation } from '../../canonical/canonical-parts.ts'
import { omitTurns } from '../../canonical/canonical-request.ts'
import type { OpaqueState } from '../../canonical/canonical-state.ts'
import type { EndEvent, PartStartEvent, StreamEvent } from '../../canonical/canonical-stream.ts'
import { COMMENT_KEEP_ALIVE } from '../../keep-alive-texts.ts'
import type { StreamWriter, WriterContext } from '../../translator.ts'
import type { WirePart } from '../ai-sdk-wire.ts'
import { writeError } from './ai-sdk-client-error.ts'
import { writeState, writeTextMetadata } from './ai-sdk-client-metadata.ts'
import { getClient } from './ai-sdk-client-request.ts'
import {
  createSources,
  writeCompletePart,
  writeFinish,
  writeRequestWarnings,
  writeResponse,
  writeResponseMetadata,
  writeUsage,
} from './ai-sdk-client-response.ts'

interface OpenStreamPart {
  part: AssistantPart
  /** The call's arguments so far. The call is written once it is complete. */
  deltas: string[]
  citations: Citation[]
  state: OpaqueState | undefined
}

/** Writes a stream's parts: the warnings, the response metadata, the content, and the finish reason. */
export function createWriter(fullContext: WriterContext, write: (event: string) => void): StreamWriter {
  const context: WriterContext = { ...fullContext, request: omitTurns(fullContext.request) }
  const client = getClient(context.request)
  const sources = createSources(client, context)
  const parts = new Map<number, OpenStreamPart>()
  let isStarted = false
  let hasRefusal = false

  const send = (part: WirePart) => write(`data: ${JSON.stringify(part)}\n\n`)
  const sendDelta = (type: string, id: string, text: string) =>
    write(`data: {"type":"${type}","id":"${escapeJson(id)}","delta":"${escapeJson(text)}"}\n\n`)

  function startStream() {
    if (!isStarted) send({ type: 'stream-start', warnings: writeRequestWarnings(context) })
    isStarted = true
  }

  function openPart({ key, part }: PartStartEvent) {
    hasRefusal ||= part.type === 'refusal'
    parts.set(key, { part, deltas: [], citations: [], state: 'state' in part ? part.state : undefined })
    if (part.type === 'text' || part.type === 'refusal') send({ type: 'text-start', id: `${key}` })
    else if (part.type === 'reasoning') send({ type: 'reasoning-start', id: `${key}`, ...writeState(part.state) })
    else if (part.type === 'tool-call')
      send({
        type: 'tool-input-start',
        id: part.id,
        toolName: part.name,
        ...(part.isFreeForm && client.version.statesEncodings && { inputEncoding: 'text' }),
      })
  }

  function addDelta(key: number, { part, deltas }: OpenStreamPart, text: string) {
    if (part.type === 'tool-call') {
      deltas.push(text)
      sendDelta('tool-input-delta', part.id, text)
    } else sendDelta(part.type === 'reasoning' ? 'reasoning-delta' : 'text-delta', `${key}`, text)
  }

  function closePart(key: number, { part, deltas, citations, state }: OpenStreamPart) {
    parts.delete(key)
    const id = `${key}`
    switch (part.type) {
      case 'text':
      case 'refusal': {
        const citedSources = sources.collect(citations)
        const textCitations =
          client.version.citesInTexts && citedSources.citations.length > 0 ? { citations: citedSources.citations } : {}
        send({ type: 'text-end', id, ...textCitations, ...writeTextMetadata({ ...part, state }) })
        for (const source of citedSources.sources) send(source)
        return
      }
      case 'reasoning':
        return send({ type: 'reasoning-end', id, ...writeState(state) })
      case 'tool-call': {
        send({ type: 'tool-input-end', id: part.id })
        const call = { ...part, arguments: part.arguments + deltas.join(''), ...(state && { state }) }
        for (const streamPart of writeCompletePart(call, { client, sources, context })) send(streamPart)
        return
      }
      case 'audio':
        if (part.transcript) {
          send({ type: 'text-start', id })
          sendDelta('text-delta', id, part.transcript)
          send({ type: 'text-end', id })
        }
        for (const streamPart of writeCompletePart(part, { client, sources, context })) send(streamPart)
        return
      default:
        for (const streamPart of writeCompletePart(state && part.type === 'image' ? { ...part, state } : part, {
          client,
          sources,
          context,
        }))
          send(streamPart)
    }
  }

  function endStream({ finishes, usage }: EndEvent) {
    const [finish = { reason: 'stop' as const }] = finishes
    const finishFields = { usage: writeUsage(usage), finishReason: writeFinish(finish, hasRefusal) }
    const metadata = writeResponseMetadata(usage, context) // must come before `beforeEnd`, which reports the fields that the last part dropped
    context.beforeEnd?.()
    send({ type: 'finish', ...finishFields, ...metadata })
  }

  function push(event: StreamEvent) {
    startStream()
    const part = 'key' in event ? parts.get(event.key) : undefined
    switch (event.type) {
      case 'start':
        return send({ type: 'response-metadata', ...writeResponse(event.id, context) })
      case 'part-start':
        return openPart(event)
      case 'part-delta':
        if (part) addDelta(event.key, part, event.text)
        return
      case 'part-citation':
        part?.citations.push(event.citation)
        return
      case 'part-state':
        if (part) part.state = event.state
        return
      case 'part-end':
        if (part) closePart(event.key, part)
        return
      case 'end':
        return endStream(event)
      case 'error':
        context.beforeEnd?.()
        return write(`data: ${JSON.stringify({ type: 'error', ...writeError(event.error).body })}\n\n`)
      default:
        return assertNever(event)
    }
  }

  const writer: StreamWriter = { push, keepAlive: () => COMMENT_KEEP_ALIVE }
  if (!client.includesRawChunks) return writer
  return {
    ...writer,
    pushRaw(data) {
      startStream()
      const value = tryParseJson(data)
      write(`data: {"type":"raw","rawValue":${JSON.stringify(value === undefined ? data : value)}}\n\n`)
    },
  }
}
