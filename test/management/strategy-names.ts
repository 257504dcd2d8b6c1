import { strategies } from '../../src/types/unions.ts'

export { strategies }

/** The strategies for a provider's connections, which have no conditions. */
export const connectionStrategies = strategies.filter((strategy) => strategy !== 'conditional')

/** Lists names in the format of error messages. */
export const listNames = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ')
