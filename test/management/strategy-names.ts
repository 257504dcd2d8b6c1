import { strategies } from '../../src/types/unions.ts'

export { strategies }

/** The strategies for the connections of a provider, which have no conditions. */
export const connectionStrategies = strategies.filter((strategy) => strategy !== 'conditional')

/** Lists names as error messages do. */
export const listNames = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ')
