import { memoryStorage } from '../../adapters/storage/memory.ts'
import { applyConfig, readConfigFile } from '../../src/cli/config-file.ts'
import { isGatewayError } from '../../src/errors.ts'
import { createGateway } from '../../src/gateway.ts'
import type { Management } from '../../src/management/operations.ts'
import type { GatewayOptions } from '../../src/options.ts'
import { configSuite, openData, write } from '../cli/config-files.ts'
import { assert } from '../support/suite.ts'
import { type Mistake, mistakes } from './support/mistakes.ts'

const test = configSuite('error messages in the management API, in code, and in the config file')

/** The gateways in these tests stay empty, because every record is rejected. */
const api = createGateway({ storage: memoryStorage(), logger: false }).api as Management<unknown>

/** Writes a record through the management API. Resolves to the error message. */
async function findApiMessage([section, name, input]: Mistake): Promise<string> {
  const value = Object(input) as object
  const slash = name.indexOf('/')
  const id = { providerAlias: name.slice(0, slash), id: name.slice(slash + 1) }
  const calls: Readonly<Record<Mistake[0], () => Promise<unknown>>> = {
    connections: () => api.connections.put({ id: name, provider: name, ...value }),
    combos: () => api.combos.put({ name, ...(Array.isArray(input) ? { models: input } : value) }),
    aliases: () => api.aliases.set({ alias: name, model: input }),
    models: () => api.customModels.put({ ...id, ...(typeof input === 'string' ? { type: input } : value) }),
    groups: () => api.groups.put({ id: name, name, ...value }),
    settings: () => api.settings.update(input),
  }
  const error: unknown = await calls[section]().then(
    () => undefined,
    (error: unknown) => error,
  )
  return isGatewayError(error, 'INVALID_REQUEST') ? error.message : `not rejected: ${String(error)}`
}

const toConfig = ([section, name, input]: Mistake) =>
  ({ [section]: section === 'settings' ? input : { [name]: input } }) as GatewayOptions

function findCodeMessage(mistake: Mistake): string {
  try {
    createGateway({ storage: memoryStorage(), logger: false, ...toConfig(mistake) })
    return 'not rejected'
  } catch (error) {
    return error instanceof TypeError ? error.message : `not a TypeError: ${String(error)}`
  }
}

/** Converts a management API message to the message for code, which starts with the path, and where `null` doesn't omit a field. */
function toCodeMessage(message: string, [section, name]: Mistake): string {
  const location = section === 'settings' ? section : `${section}.${name}`
  const problem = message
    .replace('send null or omit it', 'omit it')
    .replace(/ GET \/api\/providers lists the known providers\./, '')
    .replace(/send its base URL as "providerSpecificData\.baseUrl"/, 'set "baseUrl"')
    .replace(/[^.?]$/, '$&.')
  const [, unknown, hint = ''] = /^Unknown field "(.+?)"\. (.*)$/.exec(problem) ?? []
  const [, field, rest] = /^"([^"]+)" (.*)$/.exec(problem) ?? []
  if (unknown !== undefined)
    return hint.startsWith('It was renamed.')
      ? `${location}.${unknown} was renamed.${hint.slice('It was renamed.'.length)}`
      : `${location}.${unknown} is not a known field. ${hint}`
  if (field === undefined) return `${location}: ${problem}`
  const isAlias = section === 'aliases' && field === 'model' // in code, an alias is just its model
  return `${location}${isAlias ? '' : `.${field}`} ${rest}`
}

/** Removes the list of known fields, which differs in code, and suggestions for provider names, because the API knows more of them. */
const withoutKnown = (message: string) =>
  message.replace(/ Known: .*/, ' Known').replace(/( Unknown provider "[^"]+"\.) Did you mean [^?]+\?/, '$1')

for (const mistake of mistakes) {
  const [section, name, input] = mistake
  const shown = `${section} ${name} ${JSON.stringify(input)}`.replace(/(.)\1{50,}/g, '$1…')

  test(`code, config file, and API report the same error: ${shown.slice(0, 120)}`, async ({ folder }) => {
    const code = findCodeMessage(mistake)
    const api = await findApiMessage(mistake)
    assert.is(withoutKnown(code), withoutKnown(toCodeMessage(api, mistake)))

    const text = JSON.stringify(toConfig(mistake))
    if (text.includes('null')) return // In a file, `null` removes a field. Other `null`s stand for `NaN`, which JSON doesn't support.
    const path = await write(folder, 'mistake.json', text)
    const file: unknown = await readConfigFile(path, {})
      .then((read) => applyConfig(read, openData().data))
      .catch((error: unknown) => (error instanceof Error ? error.message : error))
    assert.is(withoutKnown(String(file)), `${path}: ${withoutKnown(code)}`)
  })
}
