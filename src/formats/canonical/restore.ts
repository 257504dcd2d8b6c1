import { type Answer, type Choice, type Finish, settleFinish } from './answer.ts'
import type { AssistantPart, ToolCallPart } from './parts.ts'
import { freeText } from './prepare/calls.ts'
import type { Restoration } from './restoration.ts'
import type { StreamEvent } from './stream.ts'
import { createUniqueIds } from './unique-ids.ts'

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

const isIdle = ({ toolNames, freeFormTools, callIds, outputTool }: Restoration) =>
  toolNames.size === 0 && freeFormTools.size === 0 && callIds.size === 0 && outputTool === undefined

type Restorer = (call: ToolCallPart) => AssistantPart

function restoreChoice({ content, finish }: Choice, restore: Restorer): Choice {
  const parts = content.map((part) => (part.type === 'tool-call' ? restore(part) : part))
  return { content: parts, finish: restoreFinish(finish, hasCall(parts)) }
}

const hasCall = (parts: readonly AssistantPart[]) => parts.some(({ type }) => type === 'tool-call')

/** A call of the answer's tool is no tool call for the client. */
const restoreFinish = (finish: Finish, hasToolCalls: boolean): Finish =>
  finish.reason === 'tool-calls' ? settleFinish(finish, hasToolCalls) : finish

function createRestorer({ toolNames, freeFormTools, callIds, outputTool }: Restoration): Restorer {
  const unique = createUniqueIds(callIds)
  return (part) => {
    const name = toolNames.get(part.name) ?? part.name
    if (name === outputTool) return { type: 'text', text: part.arguments }
    const call = { ...part, id: unique(part.id), name }
    return freeFormTools.has(name) ? { ...call, arguments: freeText(part.arguments), isFreeForm: true } : call
  }
}

function restoring(restoration: Restoration, emit: (event: StreamEvent) => void): (event: StreamEvent) => void {
  const restore = createRestorer(restoration)
  const held = new Map<number, string>() // arguments of free text, which can be read out of their JSON only when it is whole
  const calls = new Set<number>() // candidates that call a tool of the client's
  return (event) => {
    switch (event.type) {
      case 'part-start': {
        if (event.part.type !== 'tool-call') return emit(event)
        const part = restore(event.part)
        if (part.type === 'tool-call') calls.add(event.candidate)
        if (part.type === 'tool-call' && part.isFreeForm) {
          held.set(event.key, '')
          return emit({ ...event, part: { ...part, arguments: '' } })
        }
        return emit({ ...event, part })
      }
      case 'part-delta': {
        const sofar = held.get(event.key)
        if (sofar === undefined) return emit(event)
        held.set(event.key, sofar + event.text)
        return
      }
      case 'part-end': {
        const text = held.get(event.key)
        if (text) emit({ type: 'part-delta', key: event.key, text: freeText(text) })
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
