import { isObject, type JsonObject } from '../../lib/json.ts'

/** Returns a choice's index. */
export const getChoiceIndex = (choice: unknown): string =>
  `${isObject(choice) && typeof choice.index === 'number' ? choice.index : 0}`

/** Lists the choices that a chat event ends. */
export const listEndedChoices = ({ choices }: JsonObject): string[] =>
  Array.isArray(choices)
    ? choices.flatMap((choice) => (isObject(choice) && choice.finish_reason ? [getChoiceIndex(choice)] : []))
    : []

/** Removes choices from a chat event. Returns whether the event had any. */
export function dropChoices(json: JsonObject, rejectedChoices: ReadonlySet<string>): boolean {
  const { choices } = json
  if (!Array.isArray(choices)) return false
  json.choices = choices.filter((choice) => !rejectedChoices.has(getChoiceIndex(choice)))
  return json.choices !== choices && (json.choices as unknown[]).length < choices.length
}

/** Returns whether a chat event has nothing left for the client after its choices were removed. */
export const isEmptyEvent = ({ choices, usage }: JsonObject): boolean =>
  Array.isArray(choices) && choices.length === 0 && !isObject(usage)
