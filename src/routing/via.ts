import type { Choice } from './group.ts'

/** The groups that led to a target, outermost first: `pool:round-robin>inner:weighted`. */
export function viaOf(choice: Pick<Choice, 'group' | 'before'> | undefined): string {
  if (!choice) return ''
  const { before, group } = choice
  return `${before ? `${viaOf(before)}>` : ''}${group.name}:${group.strategy}`
}
