import { health } from './frame.ts'

/* The texts of the view of targets. */

export const add = 'Add a connection'
export const empty = 'There is no connection yet. Add one to a provider, and its models can be requested.'
export const ill = 'What is ill'
export const well = 'All targets are well.'
export const connections = 'Connections'
export const columnName = 'Connection'
export const columnProvider = 'Provider'
export const columnModels = 'Models'
export const columnState = 'State'
export const columnCalls = 'Calls'
export const columnFailed = 'Failed'
export const columnPriority = 'Priority'
export const columnActions = 'Actions'
export const columnLevel = 'Level'
export const columnReason = 'Why'
export const columnFailures = 'In a row'
export const columnUntil = 'Again'
export const states = {
  ok: 'ready',
  paused: 'paused',
  draining: 'draining',
  ...health,
} as const
export const levels = {
  provider: 'whole provider',
  connection: 'connection',
  model: 'model',
} as const
export const test = 'Test'
export const drain = 'Drain'
export const undrain = 'Use again'
export const pause = 'Pause'
export const resume = 'Resume'
export const reset = 'Forget its failures'
export const all = 'all'
export const testing = (name: string) => `Asking ${name} for one small answer …`
export const tested = (time: string) => `answered after ${time}`
export const form = {
  title: (name: string) => `The connection "${name}"`,
  new: 'A new connection',
  provider: 'Provider',
  providerHint: 'One of the list, or any name together with an address.',
  name: 'Name',
  apiKey: 'API key',
  apiKeyHint: 'It is stored encrypted and sent to the provider only.',
  apiKeyStored: (end: string) => `The stored one ends in ${end}. Leave this empty to keep it.`,
  baseUrl: 'Address',
  baseUrlHint: 'Of its API, with the version: https://llm.example/v1. Empty: the provider’s own.',
  format: 'Format',
  formatOwn: 'the provider’s',
  prefix: 'Prefix',
  prefixHint: 'In the names of its models. Empty: the provider’s.',
  models: 'Models to list',
  modelsHint: 'Ids, separated by commas or lines. Empty: those of the catalog.',
  priority: 'Priority',
  priorityHint: 'Lower comes first.',
  resource: 'Resource',
  region: 'Region',
  project: 'Project',
  apiVersion: 'API version',
  deployment: 'Deployment',
  more: 'Address, format and models',
  discover: 'Ask the server for its models now',
} as const
export const removeTitle = (name: string) => `Delete the connection "${name}"?`
export const removeText =
  'Its credential is deleted with it. To keep it and send nothing there, pause it; to end slowly, drain it.'
