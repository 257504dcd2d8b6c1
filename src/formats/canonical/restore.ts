import { assertNever } from '../../lib/assert-never.ts'
import { isObject, isTooDeep } from '../../lib/json.ts'
import { type Answer, type Choice, type Finish, settleFinish } from './answer.ts'
import { freeText } from './arguments.ts'
import { parseOpaque, refuseDeepAnswer } from './exact-json.ts'
import { createUniqueIds } from './ids.ts'
import type { AssistantPart, TextPart } from './parts.ts'
import type { StreamEvent } from './stream.ts'

/** Changes to a request that must be undone in its answer. */
export interface Restoration {
  /** The client's names of tools, by the names that the target got. */
  toolNames: ReadonlyMap<string, string>
  /** The client's names of free-form tools that were sent as functions with one `input`. */
  freeFormTools: ReadonlySet<string>
  /** The ids of the calls in the conversation. No new call may have one of them, as clients pair results with calls by id. */
  callIds: ReadonlySet<string>
  /** The tool whose arguments are the structured answer. */
  outputTool?: string
  /** Is the structured answer wrapped in an object? */
  isWrapped?: true
}

/** Undoes the changes of the request in the answer. */
export function restoreAnswer(answer: Answer, restoration: Restoration): Answer {
  if (isEmpty(restoration)) return answer
  const restore = createRestorer(restoration)
  return { ...answer, choices: answer.choices.map((choice) => restoreChoice(choice, restore)) }
}

/** `restoreAnswer` for a stream. */
export function restoreStream(
  restoration: Restoration,
): (emit: (event: StreamEvent) => void) => (event: StreamEvent) => void {
  return (emit) => (isEmpty(restoration) ? emit : restoring(restoration, emit))
}

const isEmpty = ({ toolNames, freeFormTools, callIds, outputTool, isWrapped }: Restoration) =>
  toolNames.size === 0 && freeFormTools.size === 0 && callIds.size === 0 && outputTool === undefined && !isWrapped

type Restorer = (part: AssistantPart) => AssistantPart

function restoreChoice({ content, finish }: Choice, restore: Restorer): Choice {
  const parts = content.map(restore)
  return { content: parts, finish: restoreFinish(finish, hasCall(parts)) }
}

const hasCall = (parts: readonly AssistantPart[]) => parts.some(({ type }) => type === 'tool-call')

/** Changes the finish reason for the client, to whom a call of the output tool is no tool call. */
const restoreFinish = (finish: Finish, hasToolCalls: boolean): Finish =>
  finish.reason === 'tool-calls' ? settleFinish(finish, hasToolCalls) : finish

function createRestorer({ toolNames, freeFormTools, callIds, outputTool, isWrapped }: Restoration): Restorer {
  const unique = createUniqueIds(callIds)
  const unwrap = (part: TextPart) => (isWrapped ? { ...part, text: unwrapOutput(part.text) } : part)
  return (part) => {
    if (part.type === 'text') return unwrap(part)
    if (part.type !== 'tool-call') return part
    const name = toolNames.get(part.name) ?? part.name
    if (name === outputTool) return unwrap({ type: 'text', text: part.arguments })
    const call = { ...part, id: unique(part.id), name }
    return freeFormTools.has(name) ? { ...call, arguments: freeText(part.arguments), isFreeForm: true } : call
  }
}

/** A part that is held back, since it can be read only when its JSON is complete. */
interface Held {
  text: string
  read(text: string): string
}

function restoring(restoration: Restoration, emit: (event: StreamEvent) => void): (event: StreamEvent) => void {
  const restore = createRestorer(restoration)
  const held = new Map<number, Held>()
  const calls = new Set<number>() // candidates that have called a tool of the client

  function readerOf(part: AssistantPart): Held['read'] | undefined {
    if (part.type === 'tool-call') return part.isFreeForm ? freeText : undefined
    return part.type === 'text' && restoration.isWrapped ? unwrapOutput : undefined
  }

  return (event) => {
    switch (event.type) {
      case 'part-start': {
        const part = restore(event.part)
        if (part.type === 'tool-call') calls.add(event.candidate)
        const read = readerOf(part)
        if (!read) return emit(part === event.part ? event : { ...event, part })
        held.set(event.key, { text: '', read })
        return emit({ ...event, part: part.type === 'tool-call' ? { ...part, arguments: '' } : part })
      }
      case 'part-delta': {
        const open = held.get(event.key)
        if (!open) return emit(event)
        open.text += event.text
        return
      }
      case 'part-end': {
        const { text, read } = held.get(event.key) ?? {}
        if (text && read) emit({ type: 'part-delta', key: event.key, text: read(text) })
        return emit(event)
      }
      case 'end': {
        const finishes = event.finishes.map((finish, index) => restoreFinish(finish, calls.has(index)))
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

/** The property of the wrapping object that holds the answer. */
export const WRAPPER = 'answer'

/** Takes the answer out of its wrapping object, also of a truncated one; any other text stays unchanged. Throws `UPSTREAM_INVALID` on JSON that nests too deep. */
function unwrapOutput(text: string): string {
  if (isTooDeep(text)) refuseDeepAnswer()
  const value = parseOpaque(text)
  if (value === undefined) return text.replace(BEGINNING, '')
  const isWrapped = isObject(value) && Object.hasOwn(value, WRAPPER) && Object.keys(value).length === 1
  return isWrapped ? JSON.stringify(value[WRAPPER]) : text
}

const BEGINNING = new RegExp(`^\\s*\\{\\s*"${WRAPPER}"\\s*:\\s*`)
