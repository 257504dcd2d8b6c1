import type { AssistantPart, ReasoningPart } from './canonical-parts.ts'
import type { OpaqueState } from './canonical-state.ts'
import type { StreamEvent } from './canonical-stream.ts'

/*
 * Gemini may sign any part. If the client's format only supports state in reasoning, such a signature becomes reasoning without text: before its tool
 * call, after its text, or after its image. It contains the ID of the call or the number of the image, for which some formats have a field.
 */

/** Moves all parts' state into reasoning. */
export function moveStateToReasoning(parts: readonly AssistantPart[]): AssistantPart[] {
  const getName = createPartNamer()
  return parts.flatMap((part): AssistantPart[] => {
    const name = getName(part)
    if (part.type === 'reasoning' || !('state' in part)) return [part]
    const { state, ...rest } = part
    if (!state) return [rest]
    return part.type === 'tool-call' ? [toSignaturePart(state, name), rest] : [rest, toSignaturePart(state, name)]
  })
}

/** Creates a function that names a signature's part: the ID of a call, or the number of an image. */
function createPartNamer(): (part: AssistantPart) => string | undefined {
  let imageCount = 0
  return (part) => {
    if (part.type === 'image') return `image:${imageCount++}`
    return part.type === 'tool-call' ? part.id : undefined
  }
}

/** Moves signatures back to their parts. A text signature without a text part gets an empty one. */
export function returnStateToParts(parts: readonly AssistantPart[]): AssistantPart[] {
  const completeParts: AssistantPart[] = []
  const statesByName = new Map<string, OpaqueState>()
  for (const part of parts) {
    const state = getSignature(part)
    const lastPart = completeParts.at(-1)
    if (!state) completeParts.push(part)
    else if (state.id !== undefined) {
      const { id, ...rest } = state
      statesByName.set(id, rest)
    } else if (lastPart?.type === 'text' && !lastPart.state) completeParts.splice(-1, 1, { ...lastPart, state })
    else completeParts.push({ type: 'text', text: '', state })
  }
  const getName = createPartNamer()
  return completeParts.map((part) => {
    const state = statesByName.get(getName(part) ?? '')
    return state && (part.type === 'tool-call' || part.type === 'image') ? { ...part, state } : part
  })
}

/** Moves the state in a stream into reasoning, like `moveStateToReasoning`. */
export function moveStreamStateToReasoning(emit: (event: StreamEvent) => void): (event: StreamEvent) => void {
  const newKeys = new Map<number, number>()
  const delayedParts = new Map<number, ReasoningPart>() // reasoning to insert when an open part ends
  const partNames = new Map<number, string | undefined>()
  const namers = new Map<number, ReturnType<typeof createPartNamer>>() // one namer per candidate
  const candidatesByKey = new Map<number, number>()
  const reasoningKeys = new Set<number>()
  let nextKey = 0
  let isShifted = false // whether a part has been inserted, which shifts the keys of later parts

  function insertPart(part: ReasoningPart, candidate: number) {
    isShifted = true
    const key = nextKey++
    const { state, ...rest } = part
    emit({ type: 'part-start', key, candidate, part: rest })
    if (state) emit({ type: 'part-state', key, state })
    emit({ type: 'part-end', key })
  }

  function moveState(event: StreamEvent) {
    if (!('key' in event)) return emit(event)
    if (event.type === 'part-state' && !reasoningKeys.has(event.key))
      return void delayedParts.set(event.key, toSignaturePart(event.state, partNames.get(event.key)))
    if (event.type === 'part-start') {
      const { part } = event
      if (part.type === 'reasoning') reasoningKeys.add(event.key)
      const getName = namers.get(event.candidate) ?? createPartNamer()
      namers.set(event.candidate, getName)
      const name = getName(part)
      partNames.set(event.key, name)
      const state = part.type === 'reasoning' || !('state' in part) ? undefined : part.state
      if (state && part.type === 'tool-call') insertPart(toSignaturePart(state, name), event.candidate)
      else if (state) delayedParts.set(event.key, toSignaturePart(state, name))
      if (event.key !== nextKey) isShifted = true
      newKeys.set(event.key, nextKey)
      candidatesByKey.set(event.key, event.candidate)
      return emit({
        ...event,
        key: nextKey++,
        part: state ? (moveStateToReasoning([part])[part.type === 'tool-call' ? 1 : 0] ?? part) : part,
      })
    }
    const key = newKeys.get(event.key) ?? event.key
    emit(key === event.key ? event : { ...event, key }) // most streams have no state to move
    if (event.type !== 'part-end') return
    const part = delayedParts.get(event.key)
    if (part) insertPart(part, candidatesByKey.get(event.key) ?? 0)
  }

  // Checked here, because nearly all events are deltas, and engines inline this short function but not `moveState`.
  return (event) => (event.type === 'part-delta' && !isShifted ? emit(event) : moveState(event))
}

const toSignaturePart = (state: OpaqueState, id?: string): ReasoningPart => ({
  type: 'reasoning',
  text: '',
  state: id === undefined ? state : { ...state, id },
})

function getSignature(part: AssistantPart): OpaqueState | undefined {
  if (part.type !== 'reasoning' || part.text !== '') return undefined
  return part.state?.kind === 'thought-signature' ? part.state : undefined
}
