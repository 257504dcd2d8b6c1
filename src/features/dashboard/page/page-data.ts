import { type ReadonlySignal, type Signal, useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { type LiveEventType, onEvents } from './page-live.ts'
import { getMessage, isDenied, signOut } from './session.ts'

/** The state of loaded data. The last value remains while the data reloads. */
export interface LoadState<T> {
  value: T | undefined
  error: string | undefined
  isLoading: boolean
}

export interface Resource<T> extends ReadonlySignal<LoadState<T>> {}

/**
 * Loads a view's data. Reloads it when a signal that `load` reads changes, every `everyMs` while the page is visible, and after events of the types
 * in `on`, but at most every `restMs`. Discards a result if a newer call has started or the view has closed.
 */
export function useData<T>(
  load: () => Promise<T>,
  { everyMs, on = [], restMs = 1_000 }: { everyMs?: number; on?: readonly LiveEventType[]; restMs?: number } = {},
) {
  const state = useSignal<LoadState<T>>({ value: undefined, error: undefined, isLoading: true })
  const turn = useSignal(0)
  const latest = useRef(0)

  useSignalEffect(() => {
    turn.value // subscribes to `turn`, so a change reloads the data
    const sequence = ++latest.current
    const isCurrent = () => sequence === latest.current
    state.value = { ...state.peek(), isLoading: true }
    load().then(
      (value) => {
        if (isCurrent()) state.value = { value, error: undefined, isLoading: false }
      },
      (error: unknown) => {
        if (!isCurrent()) return
        if (isDenied(error)) signOut(getMessage(error))
        state.value = { value: state.peek().value, error: getMessage(error), isLoading: false }
      },
    )
  })

  useEffect(() => {
    const reload = () => {
      if (!document.hidden) turn.value++
    }
    const timer = everyMs === undefined ? undefined : setInterval(reload, everyMs)
    document.addEventListener('visibilitychange', reload)
    let loadedAt = Date.now()
    let soon: ReturnType<typeof setTimeout> | undefined
    const leave = onEvents((events) => {
      if (!events.some(({ type }) => on.includes(type))) return
      soon ??= setTimeout(
        () => {
          soon = undefined
          loadedAt = Date.now()
          reload()
        },
        loadedAt + restMs - Date.now(),
      )
    })
    return () => {
      latest.current = -1
      leave()
      clearTimeout(soon)
      clearInterval(timer)
      document.removeEventListener('visibilitychange', reload)
    }
  }, [])

  return { state, reload: () => void turn.value++ }
}

/** Runs a form's action and tracks its progress and its error. */
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
    } catch (cause) {
      error.value = getMessage(cause)
      return false
    } finally {
      isBusy.value = false
    }
  }
  return { run, isBusy, error }
}

/** Runs a view button's action, then reloads the view. */
export const useChange = (reload: () => void) =>
  useAction(async (act: () => Promise<unknown>) => {
    await act()
    reload()
  })

export { type Signal, useSignal }
