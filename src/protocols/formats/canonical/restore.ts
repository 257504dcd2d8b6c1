import { assertNever } from '../../../lib/assert-never.ts'
import { isObject, isTooDeep } from '../../../lib/json.ts'
import { getFreeFormInput } from './canonical-arguments.ts'
import type { AssistantPart, TextPart } from './canonical-parts.ts'
import { type CanonicalResponse, type Choice, type Finish, resolveFinish } from './canonical-response.ts'
import type { StreamEvent } from './canonical-stream.ts'
import { parseOpaque, rejectDeepResponse } from './exact-json.ts'
import { createUniqueIds } from './ids.ts'

/** Changes to a request that must be undone in its response. */
export interface Restoration {
  /** The client's tool names, keyed by the names that were sent to the target. */
  toolNames: ReadonlyMap<string, string>
  /** The client's names for free-form tools that were sent as functions with one `input`. */
  freeFormTools: ReadonlySet<string>
  /** The IDs of earlier tool calls. A new call needs a different ID, because clients match results with calls by ID. */
  callIds: ReadonlySet<string>
  /** The tool whose arguments are the structured output. */
  outputTool?: string
  /** Set if the structured output is wrapped in an object. */
  isWrapped?: true
}

/** Undoes the request's changes in its response. */
export function restoreResponse(response: CanonicalResponse, restoration: Restoration): CanonicalResponse {
  if (isEmptyRestoration(restoration)) return response
  const restore = createRestorer(restoration)
  return { ...response, choices: response.choices.map((choice) => restoreChoice(choice, restore)) }
}

/** Undoes the request's changes in the response stream. */
export function restoreStream(
  restoration: Restoration,
): (emit: (event: StreamEvent) => void) => (event: StreamEvent) => void {
  return (emit) => (isEmptyRestoration(restoration) ? emit : createStreamRestorer(restoration, emit))
}

const isEmptyRestoration = ({ toolNames, freeFormTools, callIds, outputTool, isWrapped }: Restoration) =>
  toolNames.size === 0 && freeFormTools.size === 0 && callIds.size === 0 && outputTool === undefined && !isWrapped

type Restorer = (part: AssistantPart) => AssistantPart

function restoreChoice({ content, finish }: Choice, restore: Restorer): Choice {
  const parts = content.map(restore)
  const hasToolCalls = parts.some(({ type }) => type === 'tool-call')
  return { content: parts, finish: restoreFinish(finish, hasToolCalls) }
}

/** Corrects the finish reason, because a call to the output tool isn't a tool call for the client. */
const restoreFinish = (finish: Finish, hasToolCalls: boolean): Finish =>
  finish.reason === 'tool-calls' ? resolveFinish(finish, hasToolCalls) : finish

function createRestorer({ toolNames, freeFormTools, callIds, outputTool, isWrapped }: Restoration): Restorer {
  const makeUnique = createUniqueIds(callIds)
  const unwrap = (part: TextPart) => (isWrapped ? { ...part, text: unwrapOutput(part.text) } : part)
  return (part) => {
    if (part.type === 'text') return unwrap(part)
    if (part.type !== 'tool-call') return part
    const name = toolNames.get(part.name) ?? part.name
    if (name === outputTool) return unwrap({ type: 'text', text: part.arguments })
    const call = { ...part, id: makeUnique(part.id), name }
    return freeFormTools.has(name) ? { ...call, arguments: getFreeFormInput(part.arguments), isFreeForm: true } : call
  }
}

/** A buffered part, which can only be read once its JSON is complete. */
interface DeferredPart {
  text: string
  read(text: string): string
}

function createStreamRestorer(
  restoration: Restoration,
  emit: (event: StreamEvent) => void,
): (event: StreamEvent) => void {
  const restore = createRestorer(restoration)
  const deferredParts = new Map<number, DeferredPart>()
  const candidatesWithCalls = new Set<number>() // the candidates that have called one of the client's tools

  function getReader(part: AssistantPart): DeferredPart['read'] | undefined {
    if (part.type === 'tool-call') return part.isFreeForm ? getFreeFormInput : undefined
    return part.type === 'text' && restoration.isWrapped ? unwrapOutput : undefined
  }

  return (event) => {
    switch (event.type) {
      case 'part-start': {
        const part = restore(event.part)
        if (part.type === 'tool-call') candidatesWithCalls.add(event.candidate)
        const reader = getReader(part)
        if (!reader) return emit(part === event.part ? event : { ...event, part })
        deferredParts.set(event.key, { text: '', read: reader })
        return emit({ ...event, part: part.type === 'tool-call' ? { ...part, arguments: '' } : part })
      }
      case 'part-delta': {
        const deferredPart = deferredParts.get(event.key)
        if (!deferredPart) return emit(event)
        deferredPart.text += event.text
        return
      }
      case 'part-end': {
        const { text, read } = deferredParts.get(event.key) ?? {}
        if (text && read) emit({ type: 'part-delta', key: event.key, text: read(text) })
        return emit(event)
      }
      case 'end': {
        const finishes = event.finishes.map((finish, index) => restoreFinish(finish, candidatesWithCalls.has(index)))
        return emit({ ...event, finishes })
      }
      case 'start':
      case 'part-state':
      case 'part-citation':
      case 'error':
        return emit(event)
      default:
        return assertNever(event)
    }
  }
}

/** The wrapper object's field for the output. */
export const WRAPPER_FIELD = 'answer'

/** Unwraps the output, even if its wrapper object is truncated. Throws `UPSTREAM_INVALID` if the JSON is nested too deep. */
function unwrapOutput(text: string): string {
  if (isTooDeep(text)) rejectDeepResponse()
  const value = parseOpaque(text)
  if (value === undefined) return text.replace(WRAPPER_START_PATTERN, '')
  const isWrapped = isObject(value) && Object.hasOwn(value, WRAPPER_FIELD) && Object.keys(value).length === 1
  return isWrapped ? JSON.stringify(value[WRAPPER_FIELD]) : text
}

const WRAPPER_START_PATTERN = new RegExp(`^\\s*\\{\\s*"${WRAPPER_FIELD}"\\s*:\\s*`)
