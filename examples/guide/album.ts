import { defineTask } from '@sluice/sdk';

export const resize = defineTask({
  type: 'resize',
  run: (input: { photo: string; width: number }) => `${input.photo}-${input.width}.jpg`,
});

export const makeAlbum = defineTask({
  type: 'make-album',
  async run(input: { photos: string[] }, { submit, submitMany }) {
    const cover = await submit(resize, { photo: input.photos[0], width: 2400 });
    const pages = await submitMany(
      resize,
      input.photos.map((photo) => ({ photo, width: 1200 })),
    );

    return {
      cover: await cover.result(),
      pages: await Promise.all(pages.map((page) => page.result())),
    };
  },
});
