import type { ComboModel } from '../../types.ts'

/** The model's name in an entry of a combo. */
export const modelOf = (entry: ComboModel): string => (typeof entry === 'string' ? entry : entry.model)

/** 1 unless the entry has a weight. */
export const weightOf = (entry: ComboModel): number => (typeof entry === 'string' ? 1 : (entry.weight ?? 1))
