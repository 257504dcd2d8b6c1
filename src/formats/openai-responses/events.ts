/** Writes events, each with its name and its number. */
export interface Events {
  tell(type: string, fields: object): void
  /** The same with the fields as JSON, without braces: what comes often is put together from parts that do not change. */
  tellJson(type: string, fields: string): void
}

export function createEvents(write: (event: string) => void): Events {
  const heads = new Map<string, string>() // up to the number
  let next = 0

  function tellJson(type: string, fields: string) {
    write(`${heads.get(type) ?? headOf(type)}${next++},${fields}}\n\n`)
  }

  function headOf(type: string): string {
    const head = `event: ${type}\ndata: {"type":"${type}","sequence_number":`
    heads.set(type, head)
    return head
  }

  return { tellJson, tell: (type, fields) => tellJson(type, JSON.stringify(fields).slice(1, -1)) }
}
