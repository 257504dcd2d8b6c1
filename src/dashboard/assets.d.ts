/** The files of the page by their paths below `/admin/`, the empty one for the page itself; the build makes this module (dashboard.config.ts). */
declare module 'signalbox:dashboard' {
  export const files: Readonly<Record<string, { readonly type: string; readonly etag: string; readonly text: string }>>
}
