import { type ReadonlySignal, type Signal, useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { type LiveEventType, onEvents } from './live.ts'
import { isDenied, messageOf, signOut } from './session.ts'

/** What is loaded for a view: what came last stays while it is loaded again. */
export interface Loaded<T> {
  value: T | undefined
  error: string | undefined
  isLoading: boolean
}

export interface Resource<T> extends ReadonlySignal<Loaded<T>> {}

/**
 * Loads what a view shows, again when a signal changes that `load` reads, again each `everyMs` while the page is visible, and again with events of
 * the types `on`, at most each `restMs`. What comes after the view has gone, or after a newer call, is dropped.
 */
export function useLoaded<T>(
  load: () => Promise<T>,
  { everyMs, on = [], restMs = 1_000 }: { everyMs?: number; on?: readonly LiveEventType[]; restMs?: number } = {},
) {
  const state = useSignal<Loaded<T>>({ value: undefined, error: undefined, isLoading: true })
  const turn = useSignal(0)
  const latest = useRef(0)

  useSignalEffect(() => {
    turn.value // again with each turn
    const own = ++latest.current
    const isCurrent = () => own === latest.current
    state.value = { ...state.peek(), isLoading: true }
    load().then(
      (value) => {
        if (isCurrent()) state.value = { value, error: undefined, isLoading: false }
      },
      (error: unknown) => {
        if (!isCurrent()) return
        if (isDenied(error)) signOut(messageOf(error))
        state.value = { value: state.peek().value, error: messageOf(error), isLoading: false }
      },
    )
  })

  useEffect(() => {
    const again = () => {
      if (!document.hidden) turn.value++
    }
    const timer = everyMs === undefined ? undefined : setInterval(again, everyMs)
    document.addEventListener('visibilitychange', again)
    let loadedAt = Date.now()
    let soon: ReturnType<typeof setTimeout> | undefined
    const leave = onEvents((events) => {
      if (!events.some(({ type }) => on.includes(type))) return
      soon ??= setTimeout(
        () => {
          soon = undefined
          loadedAt = Date.now()
          again()
        },
        loadedAt + restMs - Date.now(),
      )
    })
    return () => {
      latest.current = -1
      leave()
      clearTimeout(soon)
      clearInterval(timer)
      document.removeEventListener('visibilitychange', again)
    }
  }, [])

  return { state, reload: () => void turn.value++ }
}

/** What a form sends: shows that it is under way, and what went wrong. */
export function useAction<A extends unknown[]>(act: (...args: A) => Promise<unknown>) {
  const isBusy = useSignal(false)
  const error = useSignal<string | undefined>(undefined)
  async function run(...args: A): Promise<boolean> {
    if (isBusy.value) return false
    isBusy.value = true
    error.value = undefined
    try {
      await act(...args)
      return true
    } catch (thrown) {
      error.value = messageOf(thrown)
      return false
    } finally {
      isBusy.value = false
    }
  }
  return { run, isBusy, error }
}

/** What the buttons of a view do; the view is loaded again once it is done. */
export const useChange = (reload: () => void) =>
  useAction(async (act: () => Promise<unknown>) => {
    await act()
    reload()
  })

export { type Signal, useSignal }
