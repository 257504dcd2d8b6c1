import { isObject, type JsonObject, tryParseShallow } from '../../../lib/json.ts'

/** An error nested in another one. */
export interface NestedError {
  message: string
  codes: readonly string[]
}

/**
 * Finds the errors that a router's error quotes, outermost first. They may be objects in error fields, lists with one error per provider, or JSON in
 * strings. Doesn't read other fields, because they may repeat the client's request.
 */
export function findNestedErrors(body: unknown): NestedError[] {
  const nestedErrors: NestedError[] = []
  let visitsLeft = MAX_VISITS

  function visit(value: unknown, depth: number): void {
    if (depth > MAX_DEPTH || visitsLeft-- <= 0) return
    if (typeof value === 'string') visitText(value, depth)
    else if (Array.isArray(value)) for (const item of value) visit(item, depth + 1)
    else if (isObject(value)) visitObject(value, depth)
  }

  function visitObject(value: JsonObject, depth: number): void {
    const codes = CODE_FIELDS.flatMap((name) => (isNonemptyString(value[name]) ? [value[name]] : []))
    for (const [name, member] of Object.entries(value)) {
      if (!WRAPPER_PATTERN.test(name) && !(isObject(member) && OBJECT_WRAPPER_PATTERN.test(name))) continue
      if (isNonemptyString(member) && !isJson(member))
        nestedErrors.push({ message: member.slice(0, MAX_MESSAGE_LENGTH), codes })
      visit(member, depth + 1)
    }
    if (codes.length > 0) nestedErrors.push({ message: '', codes })
  }

  /** Searches a string for JSON, which may follow other words or be an event's data. It may be in Python's notation, or truncated. */
  function visitText(text: string, depth: number): void {
    const start = text.search(/[{[]/)
    if (start < 0) return
    const json = tryParseShallow(text.slice(start, Math.max(text.lastIndexOf('}'), text.lastIndexOf(']')) + 1))
    if (json !== undefined) visit(json, depth + 1)
    else
      for (const [, doubleQuoted, singleQuoted] of text
        .slice(start, start + MAX_SEARCHED_LENGTH)
        .matchAll(QUOTED_PATTERN)) {
        const message = (doubleQuoted ?? singleQuoted ?? '').replace(/\\(["'\\/])/g, '$1')
        if (isJson(message)) visit(message, depth + 1)
        else if (message !== '') nestedErrors.push({ message: message.slice(0, MAX_MESSAGE_LENGTH), codes: [] })
      }
  }

  visit(body, 0)
  return nestedErrors
}

const MAX_DEPTH = 12
/** Maximum number of values to visit. */
const MAX_VISITS = 300
const MAX_MESSAGE_LENGTH = 1_000
const MAX_SEARCHED_LENGTH = 10_000

const isNonemptyString = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** Returns whether the text is JSON. Other messages can begin with a bracket too: `[ORIGINAL ERROR] generic::invalid_argument`. */
const isJson = (text: string): boolean => /^\s*(?:\{|\[\s*[[{"\]])/.test(text)

const CODE_FIELDS = ['code', 'type', 'status', 'error_type', 'reason'] as const

/** The names of fields that contain or lead to an error. */
const WRAPPER_PATTERN =
  /^(?:(?:inner|original|upstream|provider|raw|nested|previous|last|source|wrapped)?_?(?:errors?|exceptions?|responses?|messages?|body|details?)|inner|raw|causes?|error_?(?:message|msg|description|details?|info|body|response)|msg|data|metadata|provider_?(?:metadata|specific_fields)|providers|attempts|failures|failed_?(?:attempts|providers)|reasons?|descriptions?|routing|gateway|response_?(?:body|data|text)|extra|(?:upstream|original|nested|wrapped|previous|underlying|remote|backend|vendor)|[a-z]+_?(?:errors?|exceptions?|causes?|reasons?|responses?))$/i

/** The names of fields that only contain an error if they are objects. A string there names a request field. */
const OBJECT_WRAPPER_PATTERN = /^(?:params?|context|payload|result)$/i

/** Matches a message in JSON that can't be parsed. */
const QUOTED_PATTERN =
  /["'](?:message|msg|detail|error|error_message)["']\s{0,9}:\s{0,9}(?:"((?:[^"\\]|\\.){1,2000})|'((?:[^'\\]|\\.){1,2000}))/g
