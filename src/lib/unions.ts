export { kinds, membersOf, providerFormats, strategies, wireFormats } from '../types/unions.ts'
