import { isObject, type JsonObject } from '../../lib/json.ts'

/**
 * An item of history about a tool that ran at OpenAI, as text that another model can read; empty when there is nothing to read in it, undefined
 * when it is no such item.
 */
export function hostedText(item: JsonObject): string | undefined {
  switch (item.type) {
    case 'code_interpreter_call':
      return lines(`code_interpreter(${text(item.code)})`, ...objectsIn(item.outputs).map(({ logs }) => text(logs)))
    case 'file_search_call': {
      const queries = Array.isArray(item.queries) ? item.queries.map(text) : []
      const found = objectsIn(item.results).map((result) => `- ${text(result.filename)}: ${text(result.text)}`)
      return lines(`file_search(${queries.join(', ')})`, ...found)
    }
    case 'mcp_call':
      return lines(`${text(item.name)}(${text(item.arguments)})`, text(item.output), errorText(item.error))
    case 'mcp_list_tools':
      return ''
    default:
      return undefined
  }
}

const errorText = (error: unknown): string => (isObject(error) ? text(error.message) : text(error))

const lines = (...said: string[]): string => said.filter((line) => line !== '').join('\n')

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

const objectsIn = (list: unknown): JsonObject[] => (Array.isArray(list) ? list.filter(isObject) : [])
