/** Keeps account of calls and results, which may have ids here and need not. */
export interface CallBook {
  /** The id of a call: its own, or one after its place in the conversation. */
  call(id: string | undefined, name: string): string
  /** Id and name of the call that a result belongs to: by its id, else the first one of the name that has no result yet. */
  result(id: string | undefined, name: string | undefined): { id: string; name: string | undefined }
}

export function createCallBook(): CallBook {
  const names = new Map<string, string>()
  const open: string[] = []
  let count = 0

  function freshId(): string {
    let id = `call_${count++}`
    while (names.has(id)) id = `call_${count++}`
    return id
  }

  function answer(id: string, name: string | undefined) {
    const at = open.indexOf(id)
    if (at !== -1) open.splice(at, 1)
    return { id, name: name ?? names.get(id) }
  }

  return {
    call(given, name) {
      const id = given || freshId()
      names.set(id, name)
      open.push(id)
      return id
    },
    result(given, name) {
      if (given && names.has(given)) return answer(given, name)
      const first = open.find((id) => name === undefined || names.get(id) === name)
      return first === undefined ? { id: given || freshId(), name } : answer(first, name)
    },
  }
}
