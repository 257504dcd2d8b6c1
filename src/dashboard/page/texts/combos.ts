import type { Strategy } from '../../../types/combo.ts'

/** What each strategy does. */
export const strategies: Record<Strategy, string> = {
  fallback: 'in their order: the next one when one fails',
  'round-robin': 'in turn',
  weighted: 'by chance, by their weights',
  random: 'by chance, all alike',
  'least-latency': 'the quickest first',
  'least-cost': 'the cheapest first',
  'least-busy': 'the one with the fewest requests under way first',
  sticky: 'the same one for the same session',
  conditional: 'the first whose condition holds',
}

/* The texts of the view of combos and aliases. */

export const newOne = 'New combo'
export const empty = 'There is no combo. A combo is one name for several models, with a strategy among them.'
export const combos = 'Combos'
export const aliases = 'Aliases'
export const noAliases = 'There is no alias. An alias is another name for a model or a combo.'
export const columnName = 'Name'
export const columnStrategy = 'Strategy'
export const columnModels = 'Models'
export const columnKind = 'Kind'
export const columnAlias = 'Alias'
export const columnModel = 'Stands for'
export const columnActions = 'Actions'
export const formTitle = (name: string) => `The combo "${name}"`
export const formName = 'Name'
export const formKind = 'Kind'
export const formStrategy = 'Strategy'
export const formModels = 'Models'
export const formModel = 'Model'
export const formWeight = 'Weight'
export const formWhen = 'When'
export const formWhenHint = 'As JSON, such as {"tools": true} or {"bytes": {"max": 8000}}. Empty: always.'
export const formWhenWrong = 'This is not a JSON object.'
export const formAdd = 'Add a model'
export const formMove = (model: string) => `Move ${model}: Alt and the arrow keys, or drag`
export const formMoved = (model: string, place: number, all: number) => `${model} is now ${place} of ${all}.`
export const formHedge = 'Ask a second one when the first is slow'
export const formAttempts = 'Attempts at most'
export const formStickyLimit = 'Requests in a row'
export const aliasAdd = 'Add an alias'
export const aliasTaken = 'Somebody has made this alias meanwhile: see the table. Do it again to replace it.'
export const aliasName = 'Alias'
export const aliasModel = 'Stands for'
export const explainTitle = 'Where would a request go?'
export const explainHint = 'Nothing is sent to a provider, and no turn moves.'
export const explainModel = 'Model'
export const explainPath = 'Path'
export const explainBody = 'Body, as JSON; it may stay empty'
export const explainKey = 'As the key'
export const explainOperator = 'none'
export const explainButton = 'Explain'
export const explainColumnPlace = 'Use'
export const explainColumnTarget = 'Target'
export const explainColumnWhy = 'Why'
export const explainColumnVia = 'By way of'
export const explainUses = {
  first: 'first',
  next: 'next',
  beyond: 'beyond the attempts',
  'last-resort': 'last resort',
  skipped: 'skipped',
} as const
export const explainLeftOut = 'Left out'
export const explainNothing = 'It leads nowhere.'
export const explainError = (status: number, message: string) => `The client would get ${status}: ${message}`
export const removeTitle = (name: string) => `Delete the combo "${name}"?`
export const removeText = 'Requests for this name are a 404 from then on.'
