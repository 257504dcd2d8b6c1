import type { AssistantPart, ReasoningPart } from './parts.ts'
import type { OpaqueState } from './state.ts'
import type { StreamEvent } from './stream.ts'

/*
 * Gemini signs any part. Where the client's format has state in reasoning only, such a signature becomes reasoning without text: before its
 * tool call, after its text or after its image. It names the id of the call or the number of the image, for which some formats have a field.
 */

/** Moves all state of the parts into reasoning. */
export function moveStateToReasoning(parts: readonly AssistantPart[]): AssistantPart[] {
  const nameOf = createPartNames()
  return parts.flatMap((part): AssistantPart[] => {
    const name = nameOf(part)
    if (part.type === 'reasoning' || !('state' in part)) return [part]
    const { state, ...rest } = part
    if (!state) return [rest]
    return part.type === 'tool-call' ? [stateOnly(state, name), rest] : [rest, stateOnly(state, name)]
  })
}

/** Makes a function that returns the name of a signature's part: the id of a call, the number of an image. */
function createPartNames(): (part: AssistantPart) => string | undefined {
  let images = 0
  return (part) => {
    if (part.type === 'image') return `image:${images++}`
    return part.type === 'tool-call' ? part.id : undefined
  }
}

/** Reverts `moveStateToReasoning`: signatures return to their parts. A signature whose part is missing gets an empty text as its part. */
export function returnStateToParts(parts: readonly AssistantPart[]): AssistantPart[] {
  const whole: AssistantPart[] = []
  const named = new Map<string, OpaqueState>()
  for (const part of parts) {
    const state = signatureOnly(part)
    const last = whole.at(-1)
    if (!state) whole.push(part)
    else if (state.id !== undefined) named.set(state.id, withoutId(state))
    else if (last?.type === 'text' && !last.state) whole.splice(-1, 1, { ...last, state })
    else whole.push({ type: 'text', text: '', state })
  }
  const nameOf = createPartNames()
  return whole.map((part) => {
    const state = named.get(nameOf(part) ?? '')
    return state && (part.type === 'tool-call' || part.type === 'image') ? { ...part, state } : part
  })
}

/** `moveStateToReasoning` for a stream. */
export function moveStreamStateToReasoning(emit: (event: StreamEvent) => void): (event: StreamEvent) => void {
  const keys = new Map<number, number>()
  const late = new Map<number, ReasoningPart>() // of open parts, for when they end
  const names = new Map<number, string | undefined>()
  const namers = new Map<number, ReturnType<typeof createPartNames>>() // one for each candidate
  const candidates = new Map<number, number>()
  const reasoning = new Set<number>()
  let next = 0
  let isShifted = false // a part was inserted, so that later keys differ from the given ones

  function insert(part: ReasoningPart, candidate: number) {
    isShifted = true
    const key = next++
    const { state, ...rest } = part
    emit({ type: 'part-start', key, candidate, part: rest })
    if (state) emit({ type: 'part-state', key, state })
    emit({ type: 'part-end', key })
  }

  return (event) => {
    if (event.type === 'part-delta' && !isShifted) return emit(event) // true for nearly all events of nearly all streams
    if (!('key' in event)) return emit(event)
    if (event.type === 'part-state' && !reasoning.has(event.key))
      return void late.set(event.key, stateOnly(event.state, names.get(event.key)))
    if (event.type === 'part-start') {
      const { part } = event
      if (part.type === 'reasoning') reasoning.add(event.key)
      const nameOf = namers.get(event.candidate) ?? createPartNames()
      namers.set(event.candidate, nameOf)
      const name = nameOf(part)
      names.set(event.key, name)
      const state = part.type === 'reasoning' || !('state' in part) ? undefined : part.state
      if (state && part.type === 'tool-call') insert(stateOnly(state, name), event.candidate)
      else if (state) late.set(event.key, stateOnly(state, name))
      if (event.key !== next) isShifted = true
      keys.set(event.key, next)
      candidates.set(event.key, event.candidate)
      return emit({
        ...event,
        key: next++,
        part: state ? (moveStateToReasoning([part])[part.type === 'tool-call' ? 1 : 0] ?? part) : part,
      })
    }
    const key = keys.get(event.key) ?? event.key
    emit(key === event.key ? event : { ...event, key }) // most streams have no state to move
    if (event.type !== 'part-end') return
    const part = late.get(event.key)
    if (part) insert(part, candidates.get(event.key) ?? 0)
  }
}

const stateOnly = (state: OpaqueState, id?: string): ReasoningPart => ({
  type: 'reasoning',
  text: '',
  state: id === undefined ? state : { ...state, id },
})

function signatureOnly(part: AssistantPart): OpaqueState | undefined {
  if (part.type !== 'reasoning' || part.text !== '') return undefined
  return part.state?.kind === 'thought-signature' ? part.state : undefined
}

function withoutId({ id: _, ...state }: OpaqueState): OpaqueState {
  return state
}
