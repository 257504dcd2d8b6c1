import { defineRouteMiddleware } from '@astrojs/starlight/route-data'

/** Says on each page of /signalbox/next/ that it describes code that isn't released. */
export const onRequest = defineRouteMiddleware(({ locals }) => {
  const { entry, id } = locals.starlightRoute
  const released = `/signalbox/${id && `${id}/`}`
  entry.data.banner = {
    content: `This page describes the next version. <a href="${released}">Read about the current one</a>.`,
  }
})
