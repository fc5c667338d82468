// Runs in the world of the page, where its player is: says what the player knows of its video.
// Whatever leaves here may have been written by the page, and is read as such (video.js).
{
  const MOST_TRACKS = 100;

  const ofTrack = (/** @type {any} */ track) => ({
    language: track?.languageCode,
    kind: track?.kind,
    name: track?.name?.simpleText ?? track?.name?.runs?.[0]?.text,
    address: track?.baseUrl,
  });

  const details = () => {
    /** @type {any} */
    const player = document.getElementById("movie_player");
    /** @type {any} */
    const page = window;
    const response = player?.getPlayerResponse?.() ?? page.ytInitialPlayerResponse;
    const details = response?.videoDetails;
    const tracks = response?.captions?.playerCaptionsTracklistRenderer?.captionTracks;
    return {
      id: details?.videoId,
      title: details?.title,
      channel: details?.author,
      tracks: Array.from(tracks ?? []).slice(0, MOST_TRACKS).map(ofTrack),
    };
  };

  document.addEventListener("cuebase-ask", () => {
    const detail = JSON.stringify(details());
    document.dispatchEvent(new CustomEvent("cuebase-answer", { detail }));
  });
}
