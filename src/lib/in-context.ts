/**
 * A function that calls `task`, once and by a promise: in the async context in which it was made, wherever it is called. Timers of the
 * platform may run in another's (`inLists`).
 */
export function inThisContext<T>(task: (value: T) => void): (value: T) => void {
  let call: (value: T) => void = () => {}
  const called = new Promise<T>((resolve) => {
    call = resolve
  })
  void called.then(task)
  return call
}
