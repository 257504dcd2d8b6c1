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
 * Loads a view's data. Reloads it when a signal that `load` reads changes, every `intervalMs` while the page is visible, and after events of the types
 * in `on`, but at most every `minIntervalMs`. Discards a result if a newer call has started or the view has closed.
 */
export function useData<T>(
  load: () => Promise<T>,
  {
    intervalMs,
    on = [],
    minIntervalMs = 1_000,
  }: { intervalMs?: number; on?: readonly LiveEventType[]; minIntervalMs?: number } = {},
) {
  const state = useSignal<LoadState<T>>({ value: undefined, error: undefined, isLoading: true })
  const reloadCount = useSignal(0)
  const latestSequence = useRef(0)

  useSignalEffect(() => {
    reloadCount.value // subscribes to `reloadCount`, so a change reloads the data
    const sequence = ++latestSequence.current
    const isCurrent = () => sequence === latestSequence.current
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
      if (!document.hidden) reloadCount.value++
    }
    const timer = intervalMs === undefined ? undefined : setInterval(reload, intervalMs)
    document.addEventListener('visibilitychange', reload)
    let loadedAt = Date.now()
    let reloadTimer: ReturnType<typeof setTimeout> | undefined
    const unsubscribe = onEvents((events) => {
      if (!events.some(({ type }) => on.includes(type))) return
      reloadTimer ??= setTimeout(
        () => {
          reloadTimer = undefined
          loadedAt = Date.now()
          reload()
        },
        loadedAt + minIntervalMs - Date.now(),
      )
    })
    return () => {
      latestSequence.current = -1
      unsubscribe()
      clearTimeout(reloadTimer)
      clearInterval(timer)
      document.removeEventListener('visibilitychange', reload)
    }
  }, [])

  return { state, reload: () => void reloadCount.value++ }
}

/** Runs a form's action and tracks its progress and its error. */
export function useAction<A extends unknown[]>(action: (...args: A) => Promise<unknown>) {
  const isBusy = useSignal(false)
  const error = useSignal<string | undefined>(undefined)
  async function run(...args: A): Promise<boolean> {
    if (isBusy.value) return false
    isBusy.value = true
    error.value = undefined
    try {
      await action(...args)
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
  useAction(async (action: () => Promise<unknown>) => {
    await action()
    reload()
  })

export { type Signal, useSignal }
