import type { ModelsTelling } from './models-telling.ts'

/** OpenAI's list and model, which are the entries as they are (spec.md, Models). Its list has no pages. */
export const openaiModels: ModelsTelling = {
  list: (entries) => ({ object: 'list', data: entries }),
  one: (entry) => entry,
}
