import { mkdir, symlink } from 'node:fs/promises'

/** Lets the apps in this folder import the built package by its name, as applications do. */
export async function linkPackage(): Promise<void> {
  const folder = new URL('node_modules/', import.meta.url)
  await mkdir(folder, { recursive: true })
  await symlink('../../..', new URL('signalbox', folder), 'dir').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}
