import { type Answer, type Choice, type Finish, settleFinish } from './answer.ts'
import type { AssistantPart, ToolCallPart } from './parts.ts'
import { freeText } from './prepare/calls.ts'
import type { Restoration } from './restoration.ts'
import type { StreamEvent } from './stream.ts'

/** Undoes the changes of the request in the answer. */
export function restoreAnswer(answer: Answer, restoration: Restoration): Answer {
  if (isIdle(restoration)) return answer
  return { ...answer, choices: answer.choices.map((choice) => restoreChoice(choice, restoration)) }
}

/** `restoreAnswer` for a stream. */
export function restoreStream(
  restoration: Restoration,
): (emit: (event: StreamEvent) => void) => (event: StreamEvent) => void {
  return (emit) => (isIdle(restoration) ? emit : restoring(restoration, emit))
}

const isIdle = ({ toolNames, freeFormTools, outputTool }: Restoration) =>
  toolNames.size === 0 && freeFormTools.size === 0 && outputTool === undefined

function restoreChoice({ content, finish }: Choice, restoration: Restoration): Choice {
  const parts = content.map((part) => (part.type === 'tool-call' ? restoreCall(part, restoration) : part))
  return { content: parts, finish: restoreFinish(finish, hasCall(parts)) }
}

const hasCall = (parts: readonly AssistantPart[]) => parts.some(({ type }) => type === 'tool-call')

/** A call of the answer's tool is no tool call for the client. */
const restoreFinish = (finish: Finish, hasToolCalls: boolean): Finish =>
  finish.reason === 'tool-calls' ? settleFinish(finish, hasToolCalls) : finish

function restoreCall(part: ToolCallPart, { toolNames, freeFormTools, outputTool }: Restoration): AssistantPart {
  const name = toolNames.get(part.name) ?? part.name
  if (name === outputTool) return { type: 'text', text: part.arguments }
  if (!freeFormTools.has(name)) return { ...part, name }
  return { ...part, name, arguments: freeText(part.arguments), isFreeForm: true }
}

function restoring(restoration: Restoration, emit: (event: StreamEvent) => void): (event: StreamEvent) => void {
  const held = new Map<number, string>() // arguments of free text, which can be read out of their JSON only when it is whole
  const calls = new Set<number>() // candidates that call a tool of the client's
  return (event) => {
    switch (event.type) {
      case 'part-start': {
        if (event.part.type !== 'tool-call') return emit(event)
        const part = restoreCall(event.part, restoration)
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
