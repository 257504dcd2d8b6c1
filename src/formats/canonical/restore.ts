import { type Answer, type Choice, type Finish, settleFinish } from './answer.ts'
import type { AssistantPart, TextPart } from './parts.ts'
import { freeText } from './prepare/calls.ts'
import type { Restoration } from './restoration.ts'
import type { StreamEvent } from './stream.ts'
import { createUniqueIds } from './unique-ids.ts'
import { unwrapOutput } from './unwrap-output.ts'

/** Undoes the changes of the request in the answer. */
export function restoreAnswer(answer: Answer, restoration: Restoration): Answer {
  if (isIdle(restoration)) return answer
  const restore = createRestorer(restoration)
  return { ...answer, choices: answer.choices.map((choice) => restoreChoice(choice, restore)) }
}

/** `restoreAnswer` for a stream. */
export function restoreStream(
  restoration: Restoration,
): (emit: (event: StreamEvent) => void) => (event: StreamEvent) => void {
  return (emit) => (isIdle(restoration) ? emit : restoring(restoration, emit))
}

const isIdle = ({ toolNames, freeFormTools, callIds, outputTool, isWrapped }: Restoration) =>
  toolNames.size === 0 && freeFormTools.size === 0 && callIds.size === 0 && outputTool === undefined && !isWrapped

type Restorer = (part: AssistantPart) => AssistantPart

function restoreChoice({ content, finish }: Choice, restore: Restorer): Choice {
  const parts = content.map(restore)
  return { content: parts, finish: restoreFinish(finish, hasCall(parts)) }
}

const hasCall = (parts: readonly AssistantPart[]) => parts.some(({ type }) => type === 'tool-call')

/** A call of the answer's tool is no tool call for the client. */
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

/** What can be read out of its JSON only when that is whole. */
interface Held {
  text: string
  read(text: string): string
}

function restoring(restoration: Restoration, emit: (event: StreamEvent) => void): (event: StreamEvent) => void {
  const restore = createRestorer(restoration)
  const held = new Map<number, Held>()
  const calls = new Set<number>() // candidates that call a tool of the client's

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
        const sofar = held.get(event.key)
        if (!sofar) return emit(event)
        sofar.text += event.text
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
      default:
        return emit(event)
    }
  }
}
